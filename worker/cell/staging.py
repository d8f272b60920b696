"""The stage of an attempt: its folder, its workspace, and what its sandboxes see, before its first session."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue

from farm.model import Arm, Dependency, Digest, canonical_json
from sandbox.errors import SandboxRefusedError
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes
from worker.cell.building import BuildJob, Builds, Yard
from worker.cell.cast import Cast
from worker.cell.left import Beginning, Left
from worker.cell.ports import LinePorts, Place
from worker.cell.pulse import Pulse
from worker.cell.setup import SetUp
from worker.staging.additions import Additions
from worker.staging.copies import Copies
from worker.staging.copy_trial import Trial
from worker.staging.dependencies import Dependencies, ensure_untouched
from worker.staging.disks import CellDisks, fitting
from worker.staging.ground import CellFolder, Ground
from worker.staging.templates import Template, Templates
from worker.trees.scan import GIT_FOLDER, Tree


@dataclass(frozen=True, slots=True)
class Staged:
    """What an attempt's sessions and checks start from."""

    boxes: Boxes
    beginning: Beginning
    assets: Mapping[str, Path]
    """The arm's, by name."""
    builds: Mapping[str, Digest]
    """What the task's builds had made, by name."""
    facts: Mapping[str, JsonValue]
    """How the workspace is held, for the evidence."""

    def ensure_untouched(self, left: Left) -> None:
        """Raise IntegrityError when the sessions changed what only the task may bring."""
        ensure_untouched(self.boxes.shared, self.beginning.tree, left if isinstance(left, Tree) else None)


class Staging:
    """Stages the attempts of one slot; what it holds of the host's is held until `release`."""

    def __init__(self, ports: LinePorts, place: Place, ground: Ground) -> None:
        self._ports = ports
        self._place = place
        self._ground = ground
        blobs, renew = ports.truth.blobs, ports.sandbox.close
        self._templates = Templates(ground.templates, ground.drafts, blobs)
        self._dependencies = Dependencies(ground.dependencies, ground.drafts, blobs)
        self._disks = CellDisks(ground.find_disks, renew)
        self._copies = Copies(ground.find_overlays, renew, Trial(ports.sandbox, place.slot))
        self._builds = Builds(ports, place, Yard(ground, self._templates, self._disks))

    def stage(self, cast: Cast, attempt: Attempt, folder: CellFolder, pulse: Pulse) -> Staged:
        """Make all ready in `folder`, with the task's builds made and its setup run. Raises for what can't be."""
        with attempt.stage("stage"):
            job = self._job(cast, attempt, pulse)
            built = self._built(job)
            laid = (*job.laid, *self._dependencies.ready(tuple(built.values()), after=len(job.laid)))
            additions = Additions(cast.task.copies, {one.target: one.place for one in laid})
            template = self._templates.ready(cast.task.snapshot, cast.arm.overlay, additions)
            assets = self._assets(cast.arm)
            way = self._place_workspace(job, folder, template)
        boxes = Boxes(self._ports.sandbox, self._place.slot, folder, pulse.must_stop, job.image, laid)
        beginning = Beginning(template.tree, template.path / GIT_FOLDER)
        if cast.task.setup is not None:
            with attempt.stage("setup"):
                beginning = SetUp(attempt, boxes, pulse).run(cast.task.setup, cast.guarded, beginning)
        facts: dict[str, JsonValue] = {"disk": self._disks.told(cast.task.limits), "workspace": way}
        facts |= {"image": job.image} if job.image else {}
        return Staged(boxes, beginning, assets, {name: one.files for name, one in built.items()}, facts)

    def release(self) -> None:
        """Let what the last attempt used go, if the disk is short."""
        self._templates.release()
        self._dependencies.release()

    def _job(self, cast: Cast, attempt: Attempt, pulse: Pulse) -> BuildJob:
        image = self._image(cast.task.image, pulse)
        return BuildJob(cast, attempt, pulse, self._dependencies.ready(cast.task.dependencies), image)

    def _built(self, job: BuildJob) -> dict[str, Dependency]:
        builds = job.cast.task.builds
        if not builds:
            return {}
        with job.attempt.stage("build"):  # a part of the stage's time
            return {build.name: self._builds.ready(build, job) for build in builds}

    def _place_workspace(self, job: BuildJob, folder: CellFolder, template: Template) -> str:
        """Make the workspace, and say by which way."""
        disk = self._disks.make(job.cast.task.limits, folder.owner)
        with fitting(disk):
            folder.prepare(disk)
            folder.note.write_bytes(canonical_json(job.attempt.claimed.lease))
            return self._copies.make(template, folder)

    def _image(self, name: str | None, pulse: Pulse) -> str | None:
        """Have the task's image here, and give the id by which this host knows it."""
        if name is None:
            return None
        if self._ports.sandbox.images is None:
            raise SandboxRefusedError(f"the sandbox {self._place.sandbox!r} runs no image, and the task's is {name}")
        return self._ports.sandbox.images.get(name, pulse.must_stop)

    def _assets(self, arm: Arm) -> dict[str, Path]:
        blobs = self._ports.truth.blobs
        return {name: self._ground.asset(digest, blobs) for name, digest in arm.assets.items()}
