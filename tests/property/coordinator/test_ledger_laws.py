"""The ledger against a list that does the same in the plainest way."""

from hypothesis import given
from hypothesis import strategies as st

from farm.coordinator.ledger import Ledger

notes = st.lists(st.tuples(st.integers(0, 150), st.sampled_from([True, False, None])), max_size=200)


@given(notes=notes, fold_every=st.integers(1, 7))
def test_the_ledger_is_a_list_of_ends_folded_from_the_front(
    notes: list[tuple[int, bool | None]], fold_every: int
) -> None:
    plain = dict[int, bool | None]()
    folded = list[bool | None]()
    ledger = Ledger()
    for step, (index, end) in enumerate(notes):
        assert ledger.has(index) == (index in plain)
        if index not in plain:
            plain[index] = end
            ledger = ledger.skip(index) if end is None else ledger.note(index, is_usable=end)
        if step % fold_every == 0:
            folded.extend(ledger.foldable())
            ledger = ledger.advance()
    missing = next(index for index in range(len(plain) + 1) if index not in plain)
    folded.extend(ledger.foldable())
    ledger = ledger.advance()
    assert folded == [plain[index] for index in range(missing)]
    assert ledger.fold == missing
    ahead = [index for index in sorted(plain, reverse=True) if index > missing and plain[index] is not None]
    assert list(ledger.last_results()) == ahead
    assert [ledger.is_unusable(index) for index in ahead] == [plain[index] is False for index in ahead]
    assert ledger.put_aside == sum(end is None for end in plain.values())
    for start in (0, missing, 77):
        assert ledger.next_missing(start) == next(index for index in range(start, 400) if index not in plain)


def test_a_long_stretch_is_folded_like_a_short_one() -> None:
    ledger = Ledger()
    for index in range(1, 500):
        ledger = ledger.skip(index) if index % 7 == 0 else ledger.note(index, is_usable=index % 3 != 0)
    ledger = ledger.note(0, is_usable=False)
    ends = [None if index and index % 7 == 0 else index % 3 != 0 for index in range(500)]
    assert list(ledger.foldable()) == ends
    assert ledger.advance().fold == 500
