"""What outsiders test their own implementations of the ports with: conformance suites and fakes."""
