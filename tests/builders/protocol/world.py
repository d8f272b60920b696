"""Time, chance, and processes that stop anywhere: a world that is one heap of what is to happen.

Two kinds of processes live in it. Ours to model (the workers) are generators: any number of them, interleaved at every
call. The real ones (coordinator, finalizer) block in their calls, and the world goes on inside: so a second one that
starts meanwhile runs within the first one's call, which is then a process that was slow to get its answer.
"""

import heapq
import random
from collections.abc import Callable, Generator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import IntEnum
from functools import partial

from farm.errors import TransientError
from farm.testing.clock import START

Act = Callable[[], object]

_SLOW = 0.03
"""The part of all calls that takes seconds."""


class Died(BaseException):
    """The process stopped here."""


@dataclass(slots=True, eq=False)
class Process:
    """One life of a process."""

    name: str
    is_dead: bool = False
    frozen_until_s: float = 0.0
    deaths: list[int] | None = None
    """Counts down how many more of its kind die in some call; None: this one is only killed by others."""


class Service(IntEnum):
    """Who is asked."""

    REDIS = 0
    STORE = 1


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of a model's, to be yielded."""

    service: Service
    act: Act


Steps = Generator[Ask | float, object, None]
"""A model's life: it yields calls, whose answers are sent to it, and seconds to wait."""


class World:
    """The heap, the dice, the network."""

    def __init__(self, seed: int, trouble: float) -> None:
        self.dice = random.Random(seed)  # noqa: S311 (dice, not secrets)
        self.trouble = trouble
        """The part of all calls that goes wrong."""
        self.now_s = 0.0
        self.down_until_s = [0.0, 0.0]
        """By service."""
        self._heap: list[tuple[float, int, Act]] = []
        self._count = 0

    def at(self, delay_s: float, act: Act) -> None:
        """Let something happen later."""
        self._count += 1
        heapq.heappush(self._heap, (self.now_s + delay_s, self._count, act))

    def pass_for(self, seconds: float) -> None:
        """Let time pass, and happen what is due."""
        heap, until_s = self._heap, self.now_s + seconds
        while heap and heap[0][0] <= until_s:
            self._happen()
        self.now_s = max(self.now_s, until_s)

    def pass_until(self, until_s: float, is_enough: Callable[[], bool]) -> None:
        """Let time pass up to `until_s`, or until something has happened after which it is enough."""
        heap = self._heap
        while heap and heap[0][0] <= until_s:
            self._happen()
            if is_enough():
                return
        self.now_s = max(self.now_s, until_s)

    def _happen(self) -> None:
        at_s, _, act = heapq.heappop(self._heap)
        self.now_s = max(self.now_s, at_s)
        act()

    def delay_s(self) -> float:
        """Draw how long a message is on its way; so they overtake one another."""
        drawn = self.dice.random()
        return drawn * 0.05 if drawn >= _SLOW * (self.trouble > 0) else drawn / _SLOW * 4

    def reach(self, service: Service, act: Act) -> object:
        """Have a request arrive, be lost, or arrive twice, and its answer be lost."""
        if self.now_s < self.down_until_s[service]:
            raise TransientError(f"{service.name} is down")
        fate = self.dice.random()
        if fate >= self.trouble:
            return act()
        match int(fate / self.trouble * 3):
            case 0:
                raise TransientError(f"{service.name} did not get the request")
            case 1:
                act()
                raise TransientError(f"the answer of {service.name} is lost")
            case _:
                answer = act()
                self.at(self.delay_s(), act)
                return answer

    def ask(self, process: Process, service: Service, act: Act) -> object:
        """Call a service from a process that blocks."""
        self._end(process)
        self.pass_for(self.delay_s())
        if process.is_dead:
            if self.dice.random() < 0.5:
                act()  # it was on its way
            raise Died(process.name)
        answer = self.reach(service, act)
        self._end(process)
        self.pass_for(self.delay_s())
        self._thaw(process)
        return answer

    def sleep(self, process: Process, seconds: float) -> None:
        """Let a process that blocks wait; it wakes late rather than often."""
        self._end(process)
        self.pass_for(max(seconds, 0.5))
        self._thaw(process)

    def _end(self, process: Process) -> None:
        if process.deaths and process.deaths[0] > 0 and self.dice.random() < 0.03:
            process.deaths[0] -= 1
            process.is_dead = True
        if process.is_dead:
            raise Died(process.name)

    def _thaw(self, process: Process) -> None:
        if process.frozen_until_s > self.now_s:
            self.pass_for(process.frozen_until_s - self.now_s)
        if process.is_dead:
            raise Died(process.name)


@dataclass(frozen=True, slots=True)
class SkewedClock:
    """A process's own clocks: wrong by an offset, and fast or slow by a little."""

    world: World
    process: Process
    offset_s: float
    rate: float

    @classmethod
    def drawn(cls, world: World, process: Process) -> "SkewedClock":
        dice = world.dice
        return cls(world, process, dice.choice((0.0, 0.0, 120.0, -120.0, 86400.0)), 1 + (dice.random() - 0.5) / 50)

    def now(self) -> datetime:
        return START + timedelta(seconds=self.world.now_s + self.offset_s)

    def monotonic(self) -> float:
        return self.world.now_s * self.rate + 1000.0

    def sleep(self, seconds: float) -> None:
        self.world.sleep(self.process, seconds)


@dataclass(slots=True)
class Running:
    """A model on its way through the world."""

    world: World
    process: Process
    steps: Steps

    def start(self) -> None:
        self._resume(None)

    def _resume(self, answer: object) -> None:
        world, process = self.world, self.process
        if process.is_dead:
            return
        if process.frozen_until_s > world.now_s:
            world.at(process.frozen_until_s - world.now_s, partial(self._resume, answer))
            return
        try:
            wanted = self.steps.throw(answer) if isinstance(answer, Exception) else self.steps.send(answer)
        except StopIteration:
            return
        if isinstance(wanted, Ask):
            world.at(world.delay_s(), partial(self._deliver, wanted))
        else:
            world.at(wanted, partial(self._resume, None))

    def _deliver(self, asked: Ask) -> None:
        answer: object
        try:
            answer = self.world.reach(asked.service, asked.act)
        except TransientError as error:
            answer = error
        if not self.process.is_dead:
            self.world.at(self.world.delay_s(), partial(self._resume, answer))
