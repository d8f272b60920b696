"""`python3 -m latency access.log` prints one row for each endpoint."""

import sys

from latency.log import read
from latency.table import rows


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        for row in rows(read(lines)):
            print(f"{row.endpoint:<30} {row.count:>6} {row.median:>7} {row.p95:>7} {row.worst:>7}")


if __name__ == "__main__":
    main()
