"""Statistics that reports and gates need; scipy stays in here. Each is imported by its module: some load much."""
