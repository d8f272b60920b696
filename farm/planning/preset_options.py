"""What stands beside a preset's kind."""

from typing import TypeVar

from pydantic import BaseModel, ValidationError

from farm.model import SweepSpec
from farm.planning import complaints
from farm.planning.problems import Problem, ProblemsError

T = TypeVar("T", bound=BaseModel)


def preset_options(spec: SweepSpec, kind: type[T]) -> T:
    """Read them as a `kind`; raise ProblemsError naming the field."""
    given = {} if spec.preset is None else spec.preset.options
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        found = complaints.problems(error, {(name,): 0 for name in given}, kind)
        raise ProblemsError(Problem(("preset", *problem.loc), problem.text) for problem in found) from None
