"""What tests do to the farm's keys behind its back."""

from tests.services.redis import RedisServer


def end_all_leases(server: RedisServer) -> None:
    """Set every lease's deadline to long ago, so that a test needs not wait for it."""
    with server.client() as client:
        for key in client.scan_iter("farm:leases:*:deadlines"):
            client.zadd(key, dict.fromkeys(client.zrange(key, 0, -1), 1))
