"""`python3 -m ledger <command> <file>`."""

import sys

from ledger.files import read
from ledger.totals import balance, by_category, by_month


def print_balance(entries):
    print(f"{balance(entries):.2f}")


def print_categories(entries):
    for category, total in by_category(entries).items():
        print(f"{category} {total:.2f}")


def print_months(entries):
    for row in by_month(entries):
        print(f"{row.month} {row.income:.2f} {row.spending:.2f} {row.closing:.2f}")


COMMANDS = {"balance": print_balance, "categories": print_categories, "months": print_months}


def main(arguments):
    if len(arguments) != 2 or arguments[0] not in COMMANDS:
        print(f"usage: python3 -m ledger {'|'.join(COMMANDS)} FILE", file=sys.stderr)
        return 2
    COMMANDS[arguments[0]](read(arguments[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
