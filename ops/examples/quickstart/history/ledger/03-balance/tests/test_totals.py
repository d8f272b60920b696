import unittest
from decimal import Decimal

from ledger.entry import parse
from ledger.totals import balance


class TotalsTest(unittest.TestCase):
    def test_cents_add_up(self):
        entries = [parse("2024-03-01 0.10 gift"), parse("2024-03-02 0.20 gift")]
        self.assertEqual(balance(entries), Decimal("0.30"))

    def test_no_entries_balance_to_zero(self):
        self.assertEqual(balance([]), 0)


if __name__ == "__main__":
    unittest.main()
