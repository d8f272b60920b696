"""The straight line of one attempt, from ticket to recorded outcome."""
