"""What aider prints (0.86.2): text for people, and no events.

An exit code of 0 says nothing: so ends a session whose key was refused. A reply that came is followed by a line of
tokens, rounded; a request that failed by a line with the library's word for it. The last of such lines counts.
"""

import re

from farm.model import MIB, ProcessExit, SessionReport
from sandbox.spec import Stream
from worker.agents.ending import Heard, ending
from worker.agents.tail import Tail, beginning

MOST_BYTES = 8 * MIB
_MARK = re.compile(
    r"^(?:Tokens: [0-9.kM]+ sent, .*\breceived\..*|litellm\.(?P<error>[A-Za-z]{1,100}): (?P<why>.*))$", re.MULTILINE
)
_HEAD = re.compile(r"\A.*?^Repo-map: [^\n]*\n", re.MULTILINE | re.DOTALL)


class AiderParser:
    """Reads one session."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._whole = bytearray()
        self._is_too_long = False
        self._stderr = Tail()

    def feed(self, stream: Stream, chunk: bytes) -> None:
        if stream is Stream.STDERR:
            self._stderr.feed(chunk)
        elif len(self._whole) + len(chunk) > MOST_BYTES:
            self._is_too_long = True
            self._whole.clear()
        elif not self._is_too_long:
            self._whole += chunk

    def finish(self, exit_: ProcessExit) -> SessionReport:
        heard = self._heard()
        end = ending(exit_, heard)
        return SessionReport(
            name=self._name, exit=exit_, reason=end.reason, problem=end.problem, final_answer=heard.answer
        )

    def _heard(self) -> Heard:
        if self._is_too_long:
            return Heard(0, None, stream_problem=f"standard output is longer than {MOST_BYTES} bytes")
        text = self._whole.decode(errors="replace")
        marks = list(_MARK.finditer(text))
        if not marks:
            return Heard(0, None, detail=self._stderr.text)
        error, why = marks[-1]["error"], marks[-1]["why"]
        answer = _HEAD.sub("", text[: marks[-1].start()], count=1).strip()
        return Heard(
            terminals=1,
            answer=None if error is not None else answer,
            native_reason=error,
            detail=beginning(why),
        )
