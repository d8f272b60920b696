"""What every adapter says of a success and of each way to fail, by what its real program wrote then.

The first line of a recording tells how it was made. `stopped`: by us, in the middle of an answer.
"""

from dataclasses import dataclass
from importlib.metadata import entry_points

import pytest

from farm.errors import SpecError
from farm.model import ExitKind, ProcessExit
from tests.builders.worker.recorded import played
from worker.agents.aider import AiderAgent
from worker.agents.claude_code import ClaudeCodeAgent
from worker.agents.codex import CodexAgent
from worker.agents.command import CommandAgent
from worker.agents.gemini_cli import GeminiCliAgent
from worker.agents.mini_swe_agent import MiniSweAgent
from worker.agents.opencode import OpencodeAgent
from worker.agents.qwen_code import QwenCodeAgent
from worker.agents.scripted import ScriptedAgent
from worker.agents.stand_in import StandInAgent
from worker.session import Agent

FAILURES = ("http401", "http429", "http529", "refused", "malformed", "turn_cap", "stopped")
STOPPED = ProcessExit(kind=ExitKind.STOPPED, wall_s=1.0)
DONE = "All done"

TEMPLATE = {
    "argv": ["claude"],
    "answer": {"from": "json-lines", "pointer": "/result"},
    "reason": {"pointer": "/subtype"},
    "error": {"pointer": "/is_error"},
    "usage": {"input_tokens": "/usage/input_tokens", "output_tokens": "/usage/output_tokens"},
}
"""Claude Code's stream as a template of `command` has it: no more than its last event."""
AGENTS: dict[str, Agent] = {
    "aider": AiderAgent({"model": "m-1"}),
    "claude-code": ClaudeCodeAgent({"model": "claude-opus-5-5"}),
    "codex": CodexAgent({"model": "gpt-x"}),
    "command": CommandAgent(TEMPLATE),
    "gemini-cli": GeminiCliAgent({"model": "gemini-2.5-pro"}),
    "mini-swe-agent": MiniSweAgent({"model": "m-1"}),
    "opencode": OpencodeAgent({"model": "m-1"}),
    "qwen-code": QwenCodeAgent({"model": "m-1"}),
    "stand-in": StandInAgent({"model": "m-1"}),
}
UNCAPPED = {"aider": AiderAgent, "codex": CodexAgent, "opencode": OpencodeAgent}
"""Those that have no turn cap."""


@dataclass(frozen=True)
class Told:
    """What an adapter makes of a recording."""

    recording: str
    reason: str
    says: str = ""
    """Stands in the problem, or in the answer of a success."""
    turns: int | None = None
    tokens: tuple[int | None, int | None] | None = None
    """Of input and of output; None: it tells nothing of them."""


def stopped(recording: str) -> Told:
    return Told(recording, "stopped", "before its end")


TOLD: dict[str, dict[str, Told]] = {
    "aider": {
        "success": Told("aider.success", "success", "hello from the script"),
        "http401": Told("aider.http401", "AuthenticationError", "the script says so"),
        "http429": Told("aider.http429", "RateLimitError", "the script says so"),
        "http529": Told("aider.http529", "APIError", "the script says so"),
        "refused": Told("aider.connrefused", "BadGatewayError", "can't be reached"),
        "malformed": Told("aider.malformed", "InternalServerError", "Expecting value"),
        "stopped": stopped("aider.stopped-mid-stream"),
    },
    "claude-code": {
        "success": Told("claude.success", "success", DONE, 2, (3010, 150)),
        "http401": Told("claude.http401-retries0", "authentication_error", "401", 0, (0, 0)),
        "http429": Told("claude.http429-on-turn2", "rate_limit_error", "429", 1, (3000, 120)),
        "http529": Told("claude.http529", "overloaded_error", "529", 0, (0, 0)),
        "refused": Told("claude.connrefused", "api_error", "Connection refused", 0, (0, 0)),
        "malformed": Told("claude.malformed-sse", "success", DONE, 2, (9030, 154)),
        "turn_cap": Told("claude.maxturns3", "error_max_turns", "(3)", 3, (3020, 180)),
        "stopped": stopped("claude.sigterm-mid-stream"),
    },
    "codex": {
        "success": Told("codex.success", "success", DONE, None, (93510, 150)),
        "http401": Told("codex.http401", "turn_failed", "401"),
        "http429": Told("codex.http429-on-turn2", "turn_failed", "429"),
        "http529": Told("codex.http529", "turn_failed", "529"),
        "refused": Told("codex.connrefused-bounded", "turn_failed", "Connection failed"),
        "malformed": Told("codex.malformed-sse", "turn_failed", "before response.completed"),
        "stopped": stopped("codex.stopped-mid-stream"),
    },
    "command": {
        "success": Told("claude.success", "success", DONE, None, (3010, 150)),
        "http401": Told("claude.http401-retries0", "error_flag", "401", None, (0, 0)),
        "http429": Told("claude.http429-on-turn2", "error_flag", "429", None, (3000, 120)),
        "http529": Told("claude.http529", "error_flag", "529", None, (0, 0)),
        "refused": Told("claude.connrefused", "error_flag", "Connection refused", None, (0, 0)),
        "malformed": Told("claude.malformed-sse", "success", DONE, None, (9030, 154)),
        "turn_cap": Told("claude.maxturns3", "error_max_turns", "error_max_turns", None, (3020, 180)),
        "stopped": stopped("claude.sigterm-mid-stream"),
    },
    "gemini-cli": {
        "success": Told("gemini.success", "success", DONE, None, (93510, 150)),
        "http401": Told("gemini.http401", "http_401", "authentication_error"),
        "http429": Told("gemini.http429", "http_429", "rate_limit_error"),
        "http529": Told("gemini.http529", "http_529", "529"),
        "refused": Told("gemini.connrefused", "http_502", "can't be reached"),
        "malformed": Told("gemini.malformed-sse", "error_flag", "Unterminated string"),
        "turn_cap": Told("gemini.maxturns", "FatalTurnLimitedError", "max session turns", None, (93510, 150)),
        "stopped": stopped("gemini.stopped-mid-stream"),
    },
    "mini-swe-agent": {
        "success": Told("mini-swe-agent.success-chat", "success", DONE, 2, (93510, 150)),
        "http401": Told("mini-swe-agent.http401", "AuthenticationError", "the script says so", 0),
        "http429": Told("mini-swe-agent.http429", "RateLimitError", "the script says so", 0),
        "http529": Told("mini-swe-agent.http529", "InternalServerError", "overloaded_error", 0),
        "refused": Told("mini-swe-agent.connrefused", "InternalServerError", "Connection error", 0),
        "malformed": Told("mini-swe-agent.malformed", "InternalServerError", "Unterminated string", 0),
        "turn_cap": Told("mini-swe-agent.limits", "LimitsExceeded", "LimitsExceeded", 2, (96000, 240)),
        "stopped": stopped("mini-swe-agent.sigterm"),
    },
    "opencode": {
        "success": Told("opencode.success-anthropic", "success", DONE, 2, (3010, 150)),
        "http401": Told("opencode.http401", "APIError", "the script says so", 0),
        "http429": Told("opencode.http429", "APIError", "the script says so", 0),
        "http529": Told("opencode.http529", "APIError", "the script says so", 0),
        "refused": Told("opencode.connrefused", "APIError", "can't be reached", 0),
        "malformed": Told("opencode.malformed-sse", "UnknownError", "JSON parsing failed", 0),
        "stopped": stopped("opencode.stopped-mid-stream"),
    },
    "qwen-code": {
        "success": Told("qwen.success-openai", "success", DONE, 2, (93510, 150)),
        "http401": Told("qwen.http401", "error_during_execution", "401"),
        "http429": Told("qwen.http429", "error_during_execution", "429"),
        "http529": Told("qwen.http529", "error_during_execution", "529"),
        "refused": Told("qwen.connrefused", "error_during_execution", "can't be reached"),
        "malformed": Told("qwen.malformed-sse", "error_during_execution", "Unterminated string"),
        "turn_cap": Told("qwen.maxturns", "max_session_turns", "max_session_turns"),
        "stopped": stopped("qwen.stopped-mid-stream"),
    },
    "stand-in": {
        "success": Told("stand-in.success", "success", DONE, 2, (3010, 150)),
        "http401": Told("stand-in.http401", "error_provider", "401", 0, (None, None)),
        "http429": Told("stand-in.http429", "error_provider", "429", 0, (None, None)),
        "http529": Told("stand-in.http529", "error_provider", "529", 0, (None, None)),
        "refused": Told("stand-in.connrefused", "error_provider", "can't be reached", 0, (None, None)),
        "malformed": Told("stand-in.malformed", "error_provider", "no JSON", 0, (None, None)),
        "turn_cap": Told("stand-in.maxturns", "error_max_turns", "more than 2 turns", 2, (6000, 240)),
        "stopped": stopped("stand-in.stopped-mid-stream"),
    },
}


@pytest.mark.parametrize(("kind", "case"), [(kind, case) for kind, cases in TOLD.items() for case in cases])
def test_how_a_session_ended_and_what_it_used_is_said_and_no_more(kind: str, case: str) -> None:
    told = TOLD[kind][case]
    report = played(AGENTS[kind], told.recording, STOPPED if case == "stopped" else None)
    usage = report.usage
    tokens = None if usage is None else (usage.input_tokens, usage.output_tokens)
    assert (report.reason, report.turns, tokens) == (told.reason, told.turns, told.tokens)
    is_success = told.reason == "success"
    assert ((report.problem is None), (report.final_answer is not None)) == (is_success, is_success)
    assert told.says in (report.final_answer if is_success else report.problem or "")


def test_every_adapter_is_shown_every_failure_that_it_can_meet() -> None:
    kinds = {point.name for point in entry_points(group="farm.agents") if point.value.startswith("worker.")}
    assert kinds == {*TOLD, "scripted"}
    assert ScriptedAgent.wires == ()  # it asks no model
    for kind, cases in TOLD.items():
        assert {"success", *FAILURES} - set(cases) == ({"turn_cap"} if kind in UNCAPPED else set()), kind


@pytest.mark.parametrize("kind", UNCAPPED)
def test_a_turn_cap_is_refused_where_there_is_none(kind: str) -> None:
    with pytest.raises(SpecError, match=f"the agent '{kind}', most_turns: "):
        UNCAPPED[kind]({"model": "m-1", "most_turns": 3})
