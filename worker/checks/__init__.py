"""Checks of what a session left, decided on the host without running anything of it."""
