"""Hidden checks."""
