"""The workflow benchmark's contract: what kind of row a settled cell is there, and what each kind counts for."""
