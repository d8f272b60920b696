"""Files of the tars that a plan pins, by what is in them."""

import io
import tarfile
from collections.abc import Collection, Mapping, Sequence

from farm.errors import SpecError
from farm.gates.pairs import ArmPair
from farm.gates.promotion.record import OracleFile, Plugin
from farm.model import Arm, ArmRole, Digest, Plan, Task, canonical_json
from farm.reporting.rows.case import ReadBlob

_PLUGIN_SCHEMA = 1


def files_of(tar: bytes, wanted: Collection[str] | None = None) -> dict[str, bytes]:
    """Read the regular files of a tar, or those of them that are `wanted`."""
    with tarfile.open(fileobj=io.BytesIO(tar), mode="r:") as archive:
        found = [member for member in archive if member.isreg() and (wanted is None or member.name in wanted)]
        streams = {member.name: archive.extractfile(member) for member in found}
        return {name: stream.read() for name, stream in streams.items() if stream is not None}


def oracle_files(task: Task, read: ReadBlob) -> tuple[OracleFile, ...]:
    """List the hidden check's files; where it has none, the check itself as one."""
    if task.oracle.files is None:
        files = {"oracle.json": canonical_json(task.oracle)}
    else:
        files = files_of(read(task.oracle.files))
    return tuple(OracleFile(target=name, sha256=Digest.of(body), size=len(body)) for name, body in files.items())


def plugin_of(plan: Plan, read: ReadBlob) -> Plugin | None:
    """Describe the comparators' plug-in; None where they have none, or no single one."""
    comparators = [arm for arm in plan.arms if arm.role is ArmRole.COMPARATOR]
    named = {(name, arm.assets[name]): version for arm in comparators for name, version in arm.plugins.items()}
    if len(named) != 1:
        return None
    ((name, digest), version) = named.popitem()
    files = files_of(read(digest))
    return Plugin(
        name=name,
        version=version,
        manifest_schema_version=_PLUGIN_SCHEMA,
        manifest_digest=digest,
        file_count=len(files),
        total_bytes=sum(map(len, files.values())),
    )


def target_bases(plan: Plan, pairs: Sequence[ArmPair], read: ReadBlob) -> dict[str, Digest]:
    """Digest the files that the candidates change, as they stand before; raise SpecError for one that is new.

    They stand in the incumbent's overlay, else in the tasks' snapshots, which must agree on them.
    """
    changed: dict[str, Digest] = {}
    for pair in pairs:
        before = _overlaid(plan.arm_by_name[pair.incumbent], read)
        after = _overlaid(plan.arm_by_name[pair.candidate], read)
        differing = {path for path, body in after.items() if before.get(path) != body}
        snapshots = _snapshots(plan, differing - before.keys(), read)
        changed.update({path: Digest.of(before.get(path, snapshots.get(path, b""))) for path in differing})
    return dict(sorted(changed.items()))


def _overlaid(arm: Arm, read: ReadBlob) -> dict[str, bytes]:
    files = None if arm.overlay is None else arm.overlay.files
    return {} if files is None else files_of(read(files))


def _snapshots(plan: Plan, paths: Collection[str], read: ReadBlob) -> Mapping[str, bytes]:
    """Read files that stand in every task's snapshot, the same in each."""
    if not paths:
        return {}
    standing = [files_of(read(tree), paths) for tree in sorted({task.snapshot.tree for task in plan.tasks})]
    for path in sorted(paths):
        if any(path not in one or one[path] != standing[0][path] for one in standing):
            raise SpecError(
                f"the candidate's overlay brings {path!r}, which does not stand before it, the same in every task: a "
                "promotion changes files that are there; give the incumbent an overlay that holds it"
            )
    return standing[0]
