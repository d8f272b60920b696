"""Slot numbers: one holder each, and free again when it is gone."""

import os
from pathlib import Path

from worker.staging.slots import take_slot


def test_each_slot_of_a_root_has_a_number_of_its_own(tmp_path: Path) -> None:
    slots = [take_slot(tmp_path) for _ in range(3)]
    assert [slot.number for slot in slots] == [0, 1, 2]
    for slot in slots:
        slot.close()


def test_a_number_that_was_given_back_is_the_next_ones(tmp_path: Path) -> None:
    first, second = take_slot(tmp_path), take_slot(tmp_path)
    first.close()
    again = take_slot(tmp_path)
    assert again.number == 0
    second.close()
    again.close()


def test_a_dead_process_holds_no_number_and_a_living_one_does(tmp_path: Path) -> None:
    taken, taking = os.pipe()
    gate, opening = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(opening)
        os.write(taking, b"%d" % take_slot(tmp_path).number)
        os.read(gate, 1)
        os._exit(0)
    os.close(gate)
    assert os.read(taken, 1) == b"0"
    ours = take_slot(tmp_path)
    assert ours.number == 1
    os.close(opening)
    os.waitpid(child, 0)
    freed = take_slot(tmp_path)
    assert freed.number == 0
    for slot in (ours, freed):
        slot.close()
    os.close(taken)
    os.close(taking)
