import unittest

from latency.summary import mean, percentile


class SummaryTest(unittest.TestCase):
    def test_mean(self):
        self.assertEqual(mean([10, 20, 60]), 30)

    def test_median_of_an_odd_number_of_values(self):
        self.assertEqual(percentile([30, 10, 20], 50), 20)

    def test_the_largest_value_is_the_100th_percentile(self):
        self.assertEqual(percentile([5, 1, 3], 100), 5)

    def test_shares_outside_1_to_100_are_refused(self):
        for share in (0, 101):
            with self.assertRaises(ValueError):
                percentile([1], share)


if __name__ == "__main__":
    unittest.main()
