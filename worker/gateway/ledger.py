"""A session's usage: each request's end is entered once, and settled with the purse in the same step."""

import json
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from threading import Lock

from farm.model import NO_TOKENS, DoorReport, ModelUse, RequestEnd, TokenUse
from farm.redaction import first_words
from worker.gateway.exchange import Exchange, Measured, RequestRecord
from worker.gateway.values import Pass

MOST_MODELS = 64
"""Different models that one session may ask."""
_MOST_DETAIL = 300
OURS = {RequestEnd.REFUSED, RequestEnd.NOT_OPEN, RequestEnd.TOO_LARGE, RequestEnd.OVER_BUDGET}
"""What we refuse ourselves, and would again."""
_NO_ANSWER = {RequestEnd.RATE_LIMITED, RequestEnd.UNAVAILABLE}
_AGENTS = {RequestEnd.CLIENT_GONE, RequestEnd.SLOW_READER}


@dataclass(slots=True)
class _Sum:
    requests: int = 0
    tokens: TokenUse = NO_TOKENS
    cost_usd: Decimal | None = Decimal(0)


class Ledger:
    """Written in the gateway's thread, read in any."""

    def __init__(self, pass_: Pass, most_log_bytes: int) -> None:
        self._pass = pass_
        self._room = most_log_bytes
        self._lock = Lock()  # guards all that follows
        self._lines: list[bytes] = []
        self._left_out = 0
        self._ends: Counter[RequestEnd] = Counter()
        self._sums: dict[str, _Sum] = {}
        self._unmeasured = 0
        self._last_failure: RequestEnd | None = None
        self._last_status: int | None = None
        self._last_detail: str | None = None
        self._retry_after_s: float | None = None

    def has_room_for(self, model: str) -> bool:
        """Say whether a model may still be asked."""
        with self._lock:
            return model in self._sums or len(self._sums) < MOST_MODELS

    def enter(self, exchange: Exchange, end: RequestEnd, now: datetime) -> None:
        """Record how a request ended; what comes after its end changes nothing."""
        if exchange.is_over:
            return
        exchange.is_over = True
        measured = exchange.measured()
        self._settle(exchange, measured)
        with self._lock:
            self._ends[end] += 1
            self._count(exchange, measured)
            if exchange.wire is not None:
                self._note_failure(exchange, end)
            self._log(exchange, measured, end, now)

    def report(self) -> DoorReport:
        """Sum up."""
        with self._lock:
            return DoorReport(
                provider=self._pass.upstream.name,
                origin=self._pass.upstream.origin,
                ends=dict(self._ends),
                models=tuple(
                    ModelUse(model=model, requests=one.requests, tokens=one.tokens, cost_usd=one.cost_usd)
                    for model, one in sorted(self._sums.items())
                ),
                is_priced=self._pass.purse.is_priced,
                unmeasured=self._unmeasured,
                last_failure=self._last_failure,
                last_failure_status=self._last_status,
                last_failure_detail=self._last_detail,
                retry_after_s=self._retry_after_s,
            )

    def log(self) -> bytes:
        """Give the usage log: a JSON object a line, in the order of the ends."""
        with self._lock:
            left_out = [json.dumps({"left_out": self._left_out}).encode() + b"\n"] if self._left_out else []
            return b"".join([*self._lines, *left_out])

    def settle_early(self, exchange: Exchange) -> None:
        """Settle as soon as the provider has said its last word, before the agent has read it and asks again."""
        if exchange.hold is not None and exchange.seen.is_final and exchange.seen.is_complete:
            self._settle(exchange, exchange.measured())

    def _settle(self, exchange: Exchange, measured: Measured) -> None:
        if exchange.hold is None:
            return
        purse = self._pass.purse
        if not exchange.was_sent:
            purse.release(exchange.hold)
        elif measured.is_final:
            purse.settle(exchange.hold, measured.tokens, self._cost(exchange, measured))
        else:
            purse.settle_unmeasured(exchange.hold, measured.tokens)
        exchange.hold = None

    def _cost(self, exchange: Exchange, measured: Measured) -> Decimal | None:
        """Price what is known; None where no price is for it."""
        if exchange.asked is None or exchange.seen.is_special:
            return None
        return self._pass.purse.cost(exchange.asked.model, measured.known)

    def _count(self, exchange: Exchange, measured: Measured) -> None:
        if exchange.asked is None or not exchange.was_sent:
            return
        known = measured.known
        cost = self._cost(exchange, measured)
        one = self._sums.setdefault(exchange.asked.model, _Sum())
        one.requests += 1
        one.tokens = one.tokens.plus(known)
        one.cost_usd = None if one.cost_usd is None or cost is None else one.cost_usd + cost
        self._unmeasured += not known.is_complete

    def _note_failure(self, exchange: Exchange, end: RequestEnd) -> None:
        if end is RequestEnd.ANSWERED:
            self._last_failure = self._last_status = self._last_detail = self._retry_after_s = None
            return
        if end in _AGENTS and self._last_failure is not None:
            return  # an agent that hangs up on its provider's failure does not undo it
        self._last_failure = end
        self._last_status = exchange.status if exchange.was_sent else None
        self._last_detail = _line(exchange, end)
        if end in _NO_ANSWER:
            self._retry_after_s = exchange.retry_after_s

    def _log(self, exchange: Exchange, measured: Measured, end: RequestEnd, now: datetime) -> None:
        asked, seen = exchange.asked, exchange.seen
        record = RequestRecord(
            started_at=exchange.started_at,
            ended_at=now,
            method=_one_line(exchange.method[:16]) or "",
            path=_one_line(exchange.path) or "",
            wire=exchange.wire,
            end=end,
            status=exchange.status,
            was_sent=exchange.was_sent,
            model_asked=asked.model if asked is not None else None,
            model_answered=seen.model,
            response_id=seen.response_id,
            native_usage=tuple(seen.native),
            is_final=measured.is_final,
            tokens=measured.tokens,
            cost_usd=self._cost(exchange, measured),
            retry_after_s=exchange.retry_after_s,
            detail=_one_line(measured.problem or exchange.detail or seen.message),
        )
        line = record.model_dump_json().encode() + b"\n"
        self._room -= len(line)
        if self._room < 0:
            self._left_out += 1
        else:
            self._lines.append(line)


def _line(exchange: Exchange, end: RequestEnd) -> str | None:
    words = (
        "the farm's own door refused it:" if end in OURS else "",
        str(exchange.status) if exchange.status is not None and exchange.was_sent else "",
        exchange.detail or exchange.seen.message or "",
    )
    return _one_line(" ".join(word for word in words if word))


def _one_line(text: str | None) -> str | None:
    if not text:
        return None
    flat = " ".join(text.encode("utf-8", "backslashreplace").decode().split())
    return first_words(flat, _MOST_DETAIL)
