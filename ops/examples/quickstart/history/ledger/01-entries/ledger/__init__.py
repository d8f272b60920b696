"""Household money in a text file."""
