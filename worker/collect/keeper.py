"""Artifacts of one attempt, held until they are uploaded."""

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

    @property
    def kept(self) -> tuple[Kept, ...]:
        """All that is kept, by role."""
        return tuple(self._kept[role] for role in sorted(self._kept))
