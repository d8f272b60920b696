import unittest

from latency.log import Request, read


class LogTest(unittest.TestCase):
    def test_comments_and_blank_lines_are_skipped(self):
        lines = ["# rotated\n", "\n", "12:00:01 GET /status 200 14\n"]
        self.assertEqual(read(lines), [Request("GET", "/status", 200, 14)])


if __name__ == "__main__":
    unittest.main()
