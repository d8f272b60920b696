"""Totals by month: gaps, a year's end, disordered entries, exact cents, and the command."""

import pathlib
import subprocess
import sys

from ask import ask

PROGRAM = """
import json
from ledger.entry import parse
from ledger.totals import by_month

months = by_month([parse(line) for line in json.load(sys.stdin)])
json.dump([[m.month, *(f"{amount:.2f}" for amount in (m.income, m.spending, m.closing))] for m in months], open(sys.argv[1], "w"))
"""
COMMAND = """
import runpy
sys.argv = ["ledger", "months", "/tmp/months.txt"]
runpy.run_module("ledger", run_name="__main__")
"""
LINES = ["2024-02-29 -0.10 tea", "2023-11-30 100.00 wages", "2023-11-01 -0.20 tea", "2024-02-01 0.30 gift"]
MONTHS = [
    ["2023-11", "100.00", "-0.20", "99.80"],
    ["2023-12", "0.00", "0.00", "99.80"],
    ["2024-01", "0.00", "0.00", "99.80"],
    ["2024-02", "0.30", "-0.10", "100.00"],
]


def main():
    for lines, expected in ((LINES, MONTHS), ([], []), (LINES[:1], [["2024-02", "0.00", "-0.10", "-0.10"]])):
        answer = ask(PROGRAM, lines)
        if answer != expected:
            sys.exit(f"{len(lines)} entries give {answer}, not {expected}")
    pathlib.Path("/tmp/months.txt").write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    command = [sys.executable, "-I", "-B", "-c", "import sys; sys.path.insert(0, '.')\n" + COMMAND]
    done = subprocess.run(command, env={}, text=True, timeout=20, capture_output=True)
    printed = [line.split() for line in done.stdout.splitlines()]
    if done.returncode != 0 or printed != MONTHS:
        sys.exit(f"`python3 -m ledger months` ended with {done.returncode} and printed {printed}")


if __name__ == "__main__":
    main()
