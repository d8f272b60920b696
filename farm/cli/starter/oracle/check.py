"""The hidden check: exit 0 when median is right for lists that the visible test does not show."""

import sys

sys.path.insert(0, ".")
sys.dont_write_bytecode = True

from stats import median  # noqa: E402

CASES = [([3, 1, 2], 2), ([5], 5), ([4, 1, 3, 2], 2.5), ([9, 9, 1], 9)]
wrong = [(values, median(list(values)), right) for values, right in CASES if median(list(values)) != right]
for values, given, right in wrong:
    print(f"median({values}) is {given}, not {right}")
sys.exit(bool(wrong))
