"""Adapters for agent CLIs: what to start, and how to read what it says."""
