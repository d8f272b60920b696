"""Whether this host can work, and that it says so."""
