"""What one request is answered: the script's reply in the form of the wire that asks.

What must stay true: nothing is answered that the script does not say, but for what has to be said when it says nothing.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pydantic import JsonValue

from farm.model import Wire
from worker.provider.answer import Answer, Dialect, NativeCall, UnreadableError
from worker.provider.asked import Asked, mapping
from worker.provider.bodies import unpacked
from worker.provider.choice import Rules, nobody_answers
from worker.provider.delivery import Delivery, of_answer, of_error
from worker.provider.dialects import DIALECTS, wire_of
from worker.provider.script import DeclaredUsage, Refusal, Reply, Script, Stop
from worker.provider.tools import NoToolError, ending, ends_by_command, in_terms_of


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes
    encoding: str | None = None
    """How the body is compressed."""
    wants_socket: bool = False
    """It asks for a web socket."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent, how, and what is recorded of it."""

    delivery: Delivery
    reply: Reply
    headers: Mapping[str, str]
    asked: Asked | None = None
    rule: str | None = None


class Planner:
    """Plans answers from a script; it remembers nothing but how often a rule with `times` was met."""

    def __init__(self, script: Script) -> None:
        self._default_usage = script.default_usage
        self._rules = Rules(script)

    def plan(self, request: Request) -> Plan:
        """Decide what a request is answered."""
        wire = wire_of(request.path)
        if wire is None or request.method != "POST":
            return _probe(request, wire)
        dialect = DIALECTS[wire]
        try:
            body = json.loads(unpacked(request.body, request.encoding))
            asked = dialect.read(request.path, request.query, mapping(body))
        except (ValueError, UnreadableError) as error:
            return _bad(dialect, f"the body can't be read: {error}")
        choice = self._rules.choose(asked)
        if choice is None:
            return replace(_bad(dialect, nobody_answers(asked)), asked=asked)
        try:
            plan = self._said(dialect, choice.reply, asked)
        except NoToolError as error:
            plan = _bad(dialect, f"{choice.rule}: {error}")
        return replace(plan, asked=asked, rule=choice.rule)

    def _said(self, dialect: Dialect, reply: Reply, asked: Asked) -> Plan:
        if reply.error is not None and reply.is_refusal:
            return _refused(dialect, reply.error, reply)
        calls = _calls(reply, asked)
        key = secrets.token_hex(12)
        usage = reply.usage if "usage" in reply.model_fields_set else self._default_usage
        answer = Answer(
            key=key,
            created=int(datetime.now(UTC).timestamp()),
            model=reply.model or asked.model,
            text=reply.text if calls else reply.answer or reply.text,
            calls=calls,
            stop=reply.stop or (Stop.TOOLS if calls else Stop.DONE),
            usage=None if usage is None else _native(dialect, usage, asked.wire),
        )
        headers = {} if dialect.id_header is None else {dialect.id_header: f"req_{key}"}
        return Plan(of_answer(dialect, reply, answer, asked), reply, headers)


def _calls(reply: Reply, asked: Asked) -> tuple[NativeCall, ...]:
    if reply.answer is not None and ends_by_command(asked):
        return (ending(asked.tools, reply.answer),)
    return tuple(in_terms_of(asked.tools, act) for act in reply.tools)


def _native(dialect: Dialect, usage: DeclaredUsage, wire: Wire) -> JsonValue:
    return usage.raw[wire] if wire in usage.raw else dialect.usage(usage)


def _refused(dialect: Dialect, refusal: Refusal, reply: Reply) -> Plan:
    waits = refusal.retry_after_s
    headers = {} if waits is None else {"retry-after": f"{waits:g}"}
    return Plan(of_error(dialect, refusal), reply, headers)


def _bad(dialect: Dialect, message: str, status: int = 400) -> Plan:
    refusal = Refusal(status=status, message=message)
    return _refused(dialect, refusal, Reply(error=refusal, latency_s=0))


def _probe(request: Request, wire: Wire | None) -> Plan:
    """Answer what asks no model."""
    dialect = DIALECTS[wire or Wire.ANTHROPIC]
    if request.wants_socket:
        return _bad(dialect, "no web socket is spoken here; use POST", 426)
    if wire is not None:
        return _bad(dialect, f"{request.method} is not a request to a model; use POST", 405)
    if request.method == "HEAD":
        return Plan(Delivery(200, "application/json", (), (), 0), Reply(text="", latency_s=0), {})
    return _bad(dialect, f"{request.path} is nothing that the provider has", 404)
