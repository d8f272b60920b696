"""Who names whom by digest, and who is to blame where a name and the bytes differ.

A flipped byte in a record breaks every link to it; a flipped byte in a link breaks that link alone. So a record that
another link confirms is innocent, and the record that names it wrongly is not.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from farm.audit.findings import Notebook
from farm.model import Digest


@dataclass(frozen=True, slots=True)
class Link:
    """`source` says that `target` has `digest`: by naming it, or because it determines the target's bytes."""

    source: str
    target: str
    digest: Digest


@dataclass(slots=True)
class Links:
    """All links of a sweep, beside the digests that its records have."""

    digests: Mapping[str, Digest]
    by_target: defaultdict[str, list[Link]] = field(default_factory=lambda: defaultdict(list))

    def add(self, source: str, target: str, digest: Digest) -> None:
        self.by_target[target].append(Link(source, target, digest))

    def holds(self, link: Link) -> bool:
        return self.digests.get(link.target) == link.digest

    def is_confirmed(self, key: str) -> bool:
        """Say whether some link names the bytes that `key` has."""
        return any(self.holds(link) for link in self.by_target[key])

    def blame(self, targets: frozenset[str], notebook: Notebook) -> None:
        """Write down every broken link to one of `targets`; each names at least one record."""
        for target in sorted(targets & self.digests.keys()):
            for link in self.by_target[target]:
                if not self.holds(link):
                    self._blame(link, notebook)

    def _blame(self, link: Link, notebook: Notebook) -> None:
        has = self.digests[link.target]
        is_source_confirmed = self.is_confirmed(link.source)
        if self.is_confirmed(link.target) and not is_source_confirmed:
            notebook.flaw(link.source, f"it gives {link.target} the digest {link.digest}, and that has {has}")
            return
        doubt = "" if is_source_confirmed or not self.by_target[link.source] else ", itself in doubt,"
        notebook.flaw(link.target, f"its digest is {has}; {link.source}{doubt} gives it {link.digest}")
        if len(self.by_target[link.target]) == 1 and not is_source_confirmed:
            notebook.flaw(link.source, f"it or {link.target} is not what was sealed: nothing else tells which")
