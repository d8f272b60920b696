"""Artifacts of one attempt, held until they are uploaded."""

from collections.abc import Callable
from dataclasses import dataclass

from farm.model import Artifact, Digest


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

    def redacted(self, redact: Callable[[bytes], bytes]) -> "Keeper":
        """Give a keeper of the same artifacts, each as `redact` leaves it."""
        clean = Keeper()
        for role, kept in self._kept.items():
            body = redact(kept.body)
            clean._kept[role] = kept if body == kept.body else _changed(kept.artifact, body)
        return clean

    @property
    def kept(self) -> tuple[Kept, ...]:
        """All that is kept, by role."""
        return tuple(self._kept[role] for role in sorted(self._kept))


def _changed(artifact: Artifact, body: bytes) -> Kept:
    new = {"digest": Digest.of(body), "size_bytes": len(body), "redacted": True}
    return Kept(artifact.model_copy(update=new), body)
