"""What is kept of a cell beside its streams: the patch, and what the sessions left in /cell/out."""

from farm.model import Churn
from worker.cell.attempt import Attempt
from worker.cell.faults import recordable
from worker.cell.left import Beginning, BrokenBound, Left
from worker.collect.outputs import OutputCaps, take_outputs
from worker.collect.patch import difference_of
from worker.staging.ground import CellFolder
from worker.trees.errors import TreeError
from worker.trees.removing import remove_tree
from worker.trees.scan import Tree, changes_between


def collect(
    attempt: Attempt, beginning: Beginning, folder: CellFolder, left: Left, beside: tuple[str, ...]
) -> Churn | None:
    """Keep the patch and the outputs as the sessions left them, before a check can touch the workspace.

    Gives the churn, in which what the globs `beside` match is not counted.
    """
    churn = None if isinstance(left, BrokenBound) else _keep_patch(attempt, beginning, folder, left, beside)
    outputs = take_outputs(folder.out, OutputCaps())
    for file in outputs.taken:
        attempt.keeper.keep(f"out/{file.path}", "application/octet-stream", file.body)
    if outputs.refused:
        attempt.keeper.keep("out.refused", "text/plain", "\n".join(outputs.refused).encode())
    return churn


def _keep_patch(
    attempt: Attempt, beginning: Beginning, folder: CellFolder, after: Tree, beside: tuple[str, ...]
) -> Churn | None:
    """Keep the patch; one that can't be made is noted and makes no evidence void: it is for people."""
    scratch = folder.scratch()
    try:
        changes = changes_between(beginning.tree, after)
        found = difference_of(beginning.repository, folder.workspace, changes, scratch, beside)
    except TreeError as error:
        attempt.keeper.keep("patch.problem", "text/plain", recordable(str(error)).encode())
        return None
    finally:
        remove_tree(scratch)
    if found.patch is not None:
        attempt.keeper.keep("patch", "text/x-diff", found.patch.body, truncated=found.patch.truncated)
    if beginning.uncounted.isdisjoint(changes.paths):
        return found.churn
    return found.churn.model_copy(update={"added_lines": None, "removed_lines": None, "binary_files": None})
