"""The oracle `answer`: the last session's whole final answer must be one JSON document equal to the expected one.

Equal with types: 1, 1.0, true and "1" are four different answers; the order of keys does not matter, the order of a
list does. White space around the document is allowed; a code fence, prose, a second document or a key twice is not.
"""

from pydantic import JsonValue

from farm.model import OracleFinding, Value
from worker.documents import DocumentError, one_document
from worker.options import checked
from worker.session import OracleRequest

_MOST_SHOWN = 200


class AnswerOptions(Value):
    """What is expected. It stays on the host: no sandbox ever sees it."""

    expected: JsonValue


class AnswerOracle:
    """Compares the final answer. A missing or blank one is no completed answer: correct is None."""

    version = "1"

    def __init__(self, options: dict[str, JsonValue]) -> None:
        self._expected = checked(AnswerOptions, options, "oracle 'answer'").expected
        self.options: dict[str, JsonValue] = {"expected": self._expected}

    def find(self, request: OracleRequest) -> OracleFinding:
        answer = request.sessions[-1].final_answer if request.sessions else None
        if answer is None or not answer.strip():
            return OracleFinding(correct=None, problem="the final answer is missing or blank")
        try:
            given = one_document(answer)
        except DocumentError as error:
            return OracleFinding(correct=False, answer_error=f"the final answer is not one JSON document: {error}")
        difference = _difference(given, self._expected, "")
        return OracleFinding(correct=difference is None, answer_error=difference)


def _difference(given: JsonValue, expected: JsonValue, place: str) -> str | None:
    """Say where two documents differ first; None when they are equal, types included."""
    if isinstance(given, dict) and isinstance(expected, dict):
        return _difference_of_objects(given, expected, place)
    if isinstance(given, list) and isinstance(expected, list):
        if len(given) != len(expected):
            return f"{place or '/'} has {len(given)} elements, not {len(expected)}"
        pairs = enumerate(zip(given, expected, strict=True))
        found = (_difference(mine, theirs, f"{place}/{index}") for index, (mine, theirs) in pairs)
        return next((one for one in found if one is not None), None)
    if type(given) is type(expected) and given == expected:
        return None
    return f"{place or '/'} is {_short(given)}, which is not the expected value"


def _difference_of_objects(given: dict[str, JsonValue], expected: dict[str, JsonValue], place: str) -> str | None:
    if given.keys() != expected.keys():
        missing, extra = sorted(expected.keys() - given.keys()), sorted(given.keys() - expected.keys())
        return f"{place or '/'} lacks {len(missing)} keys and has {len(extra)} that do not belong"
    found = (_difference(given[key], expected[key], f"{place}/{key}") for key in sorted(given))
    return next((one for one in found if one is not None), None)


def _short(value: JsonValue) -> str:
    match value:
        case dict() | list():  # may be nested past what repr can follow
            return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
        case _:
            text = repr(value).encode(errors="backslashreplace").decode()
            return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"
