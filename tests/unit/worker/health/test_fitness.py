"""Fitness: lost once, for every process that shares it."""

import os

from worker.health.fitness import Fitness, Rest


def test_what_a_slot_loses_is_lost_for_the_worker_and_the_first_reason_stays() -> None:
    fitness = Fitness()
    assert fitness.problem is None
    slot = os.fork()
    if slot == 0:
        fitness.lose("the init is not dead")
        os._exit(0)
    os.waitpid(slot, 0)
    assert fitness.problem == "the init is not dead"
    fitness.lose("another")
    assert fitness.problem == "the init is not dead"


def test_a_reason_that_is_too_long_or_empty_is_still_one() -> None:
    long, empty = Fitness(), Fitness()
    long.lose("é" * 1000)
    empty.lose("")
    assert long.problem is not None
    assert long.problem.startswith("ééé")
    assert empty.problem is not None


def test_a_rest_reaches_the_slots_and_ends() -> None:
    fitness = Fitness()
    slots = []
    for rest in (Rest.STOPS_CELLS, Rest.NONE):
        fitness.set_rest(rest)
        slot = os.fork()
        if slot == 0:
            os._exit(fitness.rest)
        slots.append(os.waitstatus_to_exitcode(os.waitpid(slot, 0)[1]))
    assert slots == [Rest.STOPS_CELLS, Rest.NONE]
    assert fitness.problem is None
