"""Tasks whose cells would be put off at every window, for want of time."""

from collections.abc import Iterator, Mapping

from farm.model import SweepSpec, TaskSpec
from farm.model.time_window import calendars, longest_s
from farm.planning.problems import Problem

Seconds = Mapping[str, Mapping[str, float]]
"""What cells' sessions may last, by task and arm."""


def narrow_windows(spec: SweepSpec, sessions_s: Seconds) -> Iterator[Problem]:
    """Yield a problem for each task whose cells fit into no window."""
    most_s = longest_s(calendars(spec.windows))
    if most_s is None:
        return
    for task in spec.tasks:
        needed_s = _setup_s(task) + max(sessions_s[task.id].values()) + _afterwards_s(spec, task)
        if needed_s > most_s:
            yield Problem(
                ("windows",),
                f"a cell of task {task.id!r} may need {needed_s:g} s with its checks and its upload, and no window is "
                f"open for more than {most_s:g} s; widen one, lower the task's limits, or name a table of `durations:`",
            )


def _setup_s(task: TaskSpec) -> float:
    return 0.0 if task.setup is None else task.setup.limits.wall_s


def _afterwards_s(spec: SweepSpec, task: TaskSpec) -> float:
    return (0.0 if task.verify is None else task.verify.limits.wall_s) + task.oracle.limits.wall_s + spec.upload_s
