import unittest

from stats import median


class MedianTest(unittest.TestCase):
    def test_middle_of_three(self) -> None:
        self.assertEqual(median([1, 2, 3]), 2)
