"""The calls of tools that a stream tells one by one."""

from worker.agents.calls import CallLog
from worker.phases import ToolCall


def test_a_call_succeeded_when_its_answer_is_no_error() -> None:
    log = CallLog()
    for key in ("a", "b", "c"):
        log.call(key, "Bash", {"command": key})
    log.answer("b", succeeded=True)
    log.answer("c", succeeded=False)
    log.answer("unknown", succeeded=True)
    assert log.calls() == tuple(ToolCall("Bash", f'{{"command": "{key}"}}', succeeded=key == "b") for key in "abc")


def test_the_first_answer_counts() -> None:
    log = CallLog()
    log.call("a", "Bash", "ls")
    log.answer("a", succeeded=False)
    log.answer("a", succeeded=True)
    assert log.calls() == (ToolCall("Bash", "ls", succeeded=False),)


def test_calls_are_bounded_and_a_list_that_lacks_some_is_none() -> None:
    log = CallLog()
    log.call("a", "Bash", "x" * 10_000)
    assert [len(call.arguments) for call in log.calls() or ()] == [4096]
    for number in range(5000):
        log.call(f"{number}", "Bash", "")
    assert log.calls() is None
