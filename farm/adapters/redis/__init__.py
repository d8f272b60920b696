"""Leases, signals, hosts, events and leadership on Redis or Valkey, on the server's own clock."""

from farm.adapters.redis.farm import RedisFarm, connect

__all__ = ["RedisFarm", "connect"]
