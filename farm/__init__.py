"""Cellfarm: a distributed job queue farm for paired benchmark sweeps of coding agents."""
