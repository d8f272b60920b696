"""Compare the candidate's percentiles with nearest rank in whole numbers."""

import sys

from ask import ask

PROGRAM = """
import json
from latency.summary import percentile

def said(values, share):
    try:
        return percentile(values, share)
    except ValueError:
        return "ValueError"

json.dump([said(*case) for case in json.load(sys.stdin)], open(sys.argv[1], "w"))
"""


def expected(values, share):
    if not values or not 1 <= share <= 100:
        return "ValueError"
    rank = -(-len(values) * share // 100)
    return sorted(values)[rank - 1]


def main():
    cases = [[[7 * i % 101 for i in range(size)], share] for size in (1, 2, 3, 4, 7, 10, 100, 101) for share in range(1, 101)]
    cases += [[[], 50], [[1], 0], [[1], 101], [[10, 20, 30, 40], 50], [list(range(1, 1001)), 7]]
    wrong = [case for case, answer in zip(cases, ask(PROGRAM, cases), strict=True) if answer != expected(*case)]
    if wrong:
        values, share = wrong[0]
        sys.exit(f"{len(wrong)} of {len(cases)} percentiles are wrong, first: {share} % of {len(values)} values")


if __name__ == "__main__":
    main()
