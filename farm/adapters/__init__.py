"""Implementations of the ports: one folder or file a technology. Only the bootstraps name them."""
