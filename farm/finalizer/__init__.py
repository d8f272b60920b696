"""The finalizer: closes a sweep once: settle, clean up, judge, report, seal."""
