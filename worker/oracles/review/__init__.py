"""The oracle `review`: findings of a code review against hidden labels."""
