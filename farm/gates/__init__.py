"""Gates: pure, versioned rules over the settled table."""
