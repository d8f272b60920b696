"""Artifacts of one attempt, held until they are uploaded."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from farm.model import Artifact, Digest
from farm.redaction import Redactor


@dataclass(frozen=True, slots=True)
class Kept:
    """An artifact and its bytes."""

    artifact: Artifact
    body: bytes


class Keeper:
    """Collects artifacts by role; a role kept again takes the place of the first."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}

    def keep(self, role: str, media_type: str, body: bytes, *, truncated: bool = False) -> None:
        """Keep `body`, which is only the beginning of what there was where it is `truncated`."""
        artifact = Artifact(
            role=role, media_type=media_type, digest=Digest.of(body), size_bytes=len(body), truncated=truncated
        )
        self._kept[role] = Kept(artifact, body)

    def redacted(self, redactor: Redactor) -> "Keeper":
        """Give a keeper of the same artifacts without secrets; roles that became the same are numbered."""
        roles = {role: redactor.text(role) for role in self._kept}
        taken = {role for role, clean in roles.items() if clean == role}
        keeper = Keeper()
        for kept in self.kept:
            role = clean = roles[kept.artifact.role]
            if clean != kept.artifact.role:
                role = next(one for one in _numbered(clean) if one not in taken)
                taken.add(role)
            keeper._kept[role] = _redacted(kept, role, redactor.body(kept.body))
        return keeper

    @property
    def kept(self) -> tuple[Kept, ...]:
        """All that is kept, by role."""
        return tuple(self._kept[role] for role in sorted(self._kept))


def _redacted(kept: Kept, role: str, body: bytes) -> Kept:
    if body == kept.body and role == kept.artifact.role:
        return kept
    new = {"role": role, "digest": Digest.of(body), "size_bytes": len(body), "redacted": True}
    return Kept(kept.artifact.model_copy(update=new), body)


def _numbered(role: str) -> Iterator[str]:
    return itertools.chain((role,), (f"{role}-{number}" for number in itertools.count(2)))
