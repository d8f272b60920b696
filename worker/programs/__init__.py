"""Session programs: the fixed sequence of sessions that an arm runs."""
