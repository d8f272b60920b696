"""What is kept of a cell beside its streams: the patch, and what the sessions left in /cell/out."""

from worker.cell.attempt import Attempt
from worker.cell.faults import one_line
from worker.collect.outputs import OutputCaps, take_outputs
from worker.collect.patch import patch_of
from worker.staging.ground import CellFolder
from worker.staging.templates import Template
from worker.trees.copying import remove_tree
from worker.trees.errors import TreeError
from worker.trees.scan import Tree, changes_between


def collect(attempt: Attempt, template: Template, folder: CellFolder, after: Tree) -> None:
    """Keep the patch and the outputs as the sessions left them: before a check can touch the workspace."""
    _keep_patch(attempt, template, folder, after)
    outputs = take_outputs(folder.out, OutputCaps())
    for file in outputs.taken:
        attempt.keeper.keep(f"out/{file.path}", "application/octet-stream", file.body)
    if outputs.refused:
        attempt.keeper.keep("out.refused", "text/plain", "\n".join(outputs.refused).encode())


def _keep_patch(attempt: Attempt, template: Template, folder: CellFolder, after: Tree) -> None:
    """Keep the patch; one that can't be made is noted and makes no evidence void: it is for people."""
    scratch = folder.scratch()
    try:
        patch = patch_of(template.path, folder.workspace, changes_between(template.tree, after), scratch)
    except TreeError as error:
        attempt.keeper.keep("patch.problem", "text/plain", one_line(str(error)).encode())
        return
    finally:
        remove_tree(scratch)
    if patch is not None:
        keep = attempt.keeper.keep_part if patch.truncated else attempt.keeper.keep
        keep("patch", "text/x-diff", patch.body)
