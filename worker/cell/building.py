"""A task's builds: what is made of its snapshot once, in a sandbox without a network, for every cell that has the same.

What must stay true: whatever arm, cell or host needs a build sees the bytes that were recorded first. So an output is
uploaded, then recorded by exclusive creation, and only what stands in the record is ever used. No arm's overlay is in
the workspace that a build runs in. One that failed is not tried again on this host in the same sweep.
"""

from dataclasses import dataclass, field

from farm.errors import IntegrityError, SpecError
from farm.model import Build, Dependency, Derived, Digest, SweepId, build_lock, canonical_json, parse_record
from farm.model.keys import derived_key, open_key
from sandbox.errors import SandboxUnhealthyError
from worker.cell.attempt import Attempt
from worker.cell.boxes import Boxes, CheckPlan
from worker.cell.cast import Cast
from worker.cell.commands import failure, keep_output
from worker.cell.faults import recordable
from worker.cell.ports import LinePorts, Place
from worker.cell.pulse import Pulse
from worker.kept import Kept
from worker.staging.additions import Additions
from worker.staging.builds import build_site, hidden_names
from worker.staging.dependencies import Laid
from worker.staging.disks import CellDisks, fitting
from worker.staging.ground import CellFolder, Ground
from worker.staging.templates import Templates
from worker.trees.copying import Ownership, copy_tree
from worker.trees.errors import TreeError
from worker.trees.packing import pack

_WAIT_S = 0.2
_MOST_KNOWN = 256


@dataclass(frozen=True, slots=True)
class Yard:
    """Where builds run."""

    ground: Ground
    templates: Templates
    disks: CellDisks


@dataclass(frozen=True, slots=True)
class BuildJob:
    """For whom a build is made, and what it finds."""

    cast: Cast
    attempt: Attempt
    pulse: Pulse
    laid: tuple[Laid, ...]
    image: str | None


class _BuildError(SpecError):
    """The build itself failed, as it would anywhere."""


@dataclass(frozen=True, slots=True)
class Builds:
    """Gives what builds make, making it where nobody has yet."""

    ports: LinePorts
    place: Place
    yard: Yard
    known: Kept[Digest, Digest] = field(default_factory=lambda: Kept(_MOST_KNOWN))
    """The outputs by lock that this process has found recorded."""

    def ready(self, build: Build, job: BuildJob) -> Dependency:
        """Give what `build` makes as a dependency; raise SpecError when it fails."""
        lock = build_lock(job.cast.plan, job.cast.task, build)
        files = self.known.get_or(lock, lambda: self._recorded(lock) or self._made_alone(lock, build, job))
        return Dependency(files=files, target=build.place)

    def _recorded(self, lock: Digest) -> Digest | None:
        key = derived_key(lock)
        body = self.ports.truth.records.read(key)
        if body is None:
            return None
        derived = parse_record(Derived, body, key)
        if derived.lock != lock:
            raise IntegrityError(f"{key} is the record of another build: {derived.lock}")
        return derived.files

    def _made_alone(self, lock: Digest, build: Build, job: BuildJob) -> Digest:
        def wait() -> None:
            job.pulse.check()
            self.ports.clock.sleep(_WAIT_S)

        sweep = self._run_of(job.attempt.claimed.ticket.sweep)
        with build_site(self.yard.ground.builds, lock, wait) as site:
            failed = site.failure(sweep)
            if failed is not None:
                raise SpecError(f"{failed} (it is not tried again on this host in this sweep)")
            try:
                return self._recorded(lock) or self._made(lock, build, job)
            except _BuildError as error:
                site.fail(sweep, recordable(str(error)))
                raise

    def _run_of(self, sweep: SweepId) -> str:
        """Name a sweep by its opening, too: one of the same name in another store, or an earlier one, is another."""
        opening = self.ports.truth.records.read(open_key(sweep))
        return sweep if opening is None else f"{sweep} {Digest.of(opening)}"

    def _made(self, lock: Digest, build: Build, job: BuildJob) -> Digest:
        owner = Ownership(*self.ports.sandbox.owner(self.place.slot))
        folder = self.yard.ground.cell(owner)
        try:
            self._run(build, job, folder)
            derived = self._uploaded(lock, build, job, folder)
        except SandboxUnhealthyError:
            raise  # somebody may live in the folder: the next worker clears it away
        except BaseException:
            folder.remove()
            raise
        folder.remove()
        return self._record(derived)

    def _run(self, build: Build, job: BuildJob, folder: CellFolder) -> None:
        task = job.cast.task
        links = {one.target: one.place for one in job.laid}
        template = self.yard.templates.ready(task.snapshot, None, Additions(task.copies, links))
        disk = self.yard.disks.make(task.limits, folder.owner)
        with fitting(disk):
            folder.prepare(disk)
            copy_tree(template.path, template.listing, folder.workspace, folder.owner)
        boxes = Boxes(self.ports.sandbox, self.place.slot, folder, job.pulse.must_stop, job.image, job.laid)
        result = boxes.run_check(CheckPlan(build.argv, build.env, folder.workspace, build.limits, is_writable=True))
        job.pulse.check()
        keep_output(job.attempt.keeper, f"build.{build.name}", result)
        failed = failure(result)
        if failed is not None:
            raise _BuildError(f"the build {build.name!r} {failed}")

    def _uploaded(self, lock: Digest, build: Build, job: BuildJob, folder: CellFolder) -> Derived:
        packed = folder.scratch()
        markers = (*build.forbidden, *hidden_names(job.cast.task.snapshot.hidden))
        try:
            pack(folder.workspace, build.output, packed, markers, job.pulse.check)
        except TreeError as error:
            raise _BuildError(f"the build {build.name!r} made what can't be used: {error}") from error
        return Derived(
            lock=lock,
            files=self.ports.truth.blobs.put_file(packed),
            size_bytes=packed.stat().st_size,
            task=job.cast.task.id,
            build=build.name,
            host=self.place.host,
            made_at=self.ports.clock.now(),
        )

    def _record(self, derived: Derived) -> Digest:
        """Record an output, unless another host was faster: then its bytes are those that count."""
        if self.ports.truth.records.create(derived_key(derived.lock), canonical_json(derived)):
            return derived.files
        recorded = self._recorded(derived.lock)
        if recorded is None:
            raise IntegrityError(f"{derived_key(derived.lock)} could not be created and is not there")
        return recorded
