"""How long requests took, from an access log."""
