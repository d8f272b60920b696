"""The calls of tools that a stream tells one by one: what was asked, and whether it was answered well."""

import json

from pydantic import JsonValue

from worker.phases import ToolCall

_MOST_CALLS = 5000
_MOST_ARGUMENTS = 4096


class CallLog:
    """Keeps them in their order, bounded. A call that no answer came to did not succeed."""

    def __init__(self) -> None:
        self._calls: list[ToolCall] = []
        self._open: dict[str, int] = {}
        self._is_full = False

    def call(self, key: JsonValue, name: str, given: JsonValue) -> None:
        """Take a call; its answer will name the same key."""
        if len(self._calls) >= _MOST_CALLS:
            self._is_full = True
            return
        if isinstance(key, str):
            self._open[key] = len(self._calls)
        text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        self._calls.append(ToolCall(name, text[:_MOST_ARGUMENTS], succeeded=False))

    def answer(self, key: JsonValue, *, succeeded: bool) -> None:
        """Take an answer; one to a call that was never made, or was answered before, says nothing."""
        place = self._open.pop(key, None) if isinstance(key, str) else None
        if place is not None and succeeded:
            call = self._calls[place]
            self._calls[place] = ToolCall(call.name, call.arguments, succeeded=True)

    def calls(self) -> tuple[ToolCall, ...] | None:
        """Give them; None where there were more than are kept."""
        return None if self._is_full else tuple(self._calls)
