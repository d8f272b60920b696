"""Implementations of `sandbox.spec.Sandbox`."""
