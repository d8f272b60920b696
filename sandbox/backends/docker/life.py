"""One container from its start to its removal: spoken with, metered, ended, proven dead."""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace

from sandbox.backends.cuts import Asked, Cut, Cuts, late_cut
from sandbox.backends.docker.container import Json
from sandbox.backends.docker.death import Death
from sandbox.backends.docker.engine import Engine
from sandbox.backends.docker.meter import meter
from sandbox.backends.docker.talk import Ear, LastWord, Talk, a_nonce, opening
from sandbox.backends.docker.watch import Watch
from sandbox.backends.plan import is_tmp_bound
from sandbox.limits import Group, Usage
from sandbox.spec import SandboxSpec, Sink, Stream
from sandbox.streams import Capped, over_cap


@dataclass(frozen=True, slots=True)
class Order:
    """What a container is to run, what is laid on its command's system calls, who hears it."""

    spec: SandboxSpec
    filter: bytes
    sink: Sink


@dataclass(frozen=True, slots=True)
class End:
    """All that is known of a container that is dead."""

    word: LastWord | None
    message: str
    """The engine's, if it has something to say."""
    usage: Usage
    wall_s: float
    cut: Cut | None
    over_cap: tuple[Stream, ...]


class Life:
    """A container that was started, and whose init hears from us only now what it is to do."""

    def __init__(self, engine: Engine, body: Json, order: Order, left: ExitStack) -> None:
        """Make and start it; with `left` it is ended, if it has not been, and removed. Raises SandboxError."""
        self._engine, self._limits, self._has_tmp = engine, order.spec.limits, not is_tmp_bound(order.spec)
        self._id = engine.create(body)
        self._death = Death(engine, self._id)
        left.callback(self._death.bury)
        nonce, cap = a_nonce(), self._limits.output_bytes
        self._outputs = tuple(Capped(stream, order.sink, cap) for stream in (Stream.STDOUT, Stream.STDERR))
        self._ear = Ear(nonce, self._outputs[1])
        said = opening(nonce, order.filter, order.spec.stdin)
        self._talk = left.enter_context(Talk(engine.attach(self._id), said, self._outputs[0], self._ear))
        self._started = time.monotonic()
        engine.start(self._id)
        self._meter = meter(engine, self._id)

    @property
    def groups(self) -> tuple[Group, ...]:
        """Give the control group, if we can see it."""
        return self._meter.groups

    @property
    def is_over(self) -> bool:
        """Tell whether the command has ended, or the container, as far as was heard."""
        return self._talk.is_over

    def hear(self, rest_ms: int = 0) -> None:
        """Say and hear what there is, after waiting so long at most."""
        Watch(self._talk).turn(rest_ms)

    def cut_lifeline(self) -> None:
        """Let it think that we are dead."""
        self._talk.cut()

    def until_end(self, stop: Callable[[], bool], others: tuple[Group, ...]) -> Cut | None:
        """Wait for the command's end, or for a reason to end it: a stop, a limit of it, memory of `others`."""
        asked = Asked(stop, (*self.groups, *others))
        return Watch(self._talk).until_end(Cuts(self._limits, self._outputs, asked))

    def end(self, cut: Cut | None = None) -> End:
        """End what has not ended; everybody in it is dead after that. Its account ends just before.

        Raises SandboxUnhealthyError when that is not proven after 5 s.
        """
        self._meter.look()
        if self.is_over and cut is None:
            self._talk.take_leave()
        else:
            self._death.kill()
        Watch(self._talk).drain(self._death.rest_s)
        ended = self._death.proven()
        usage, wall_s = self._meter.used, time.monotonic() - self._started
        word = self._ear.last_word()
        memory = ("memory",) if ended.was_out_of_memory else ()
        seen = word.touched if word is not None and self._has_tmp else ()
        usage = replace(usage, touched=tuple(dict.fromkeys((*memory, *usage.touched, *seen))))
        late = late_cut(self._outputs, usage)
        return End(word, ended.message, usage, wall_s, cut or late, over_cap(self._outputs))
