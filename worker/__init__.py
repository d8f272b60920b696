"""The worker: one attempt of one cell at a time, from ticket to recorded outcome."""
