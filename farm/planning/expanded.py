"""A sweep with its preset written out."""

from dataclasses import dataclass

from farm.model import SweepSpec


@dataclass(frozen=True, slots=True)
class Expanded:
    """A sweep of which every part stands in `spec`."""

    spec: SweepSpec
    has_cells: bool = True
    """False when the hypothesis was found unsupported: then nothing is bought."""
    has_plain_repositories: bool = False
    """Whether repositories are plain folders of ours, without git."""
