"""A sandbox for untrusted command-line programs on Linux; it knows nothing of the farm."""
