"""Claims of a share, in two keys."""

from farm.adapters.redis.server import Server, milliseconds
from farm.errors import IntegrityError
from farm.model import ShareClaim, parse_record

_KEYS = ("farm:shares:deadlines", "farm:shares:claims")


class RedisShares:
    """Claims by sweep, each forgotten when its time is over."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._note = server.script("beat")
        self._noted = server.script("hosts")

    def claim(self, claim: ShareClaim, ttl_s: float) -> None:
        self._note.run(_KEYS, claim.sweep, claim.model_dump_json(), milliseconds(ttl_s))

    def withdraw(self, sweep: str) -> None:
        with self._server.answering() as client, client.pipeline(transaction=True) as both:
            both.zrem(_KEYS[0], sweep)
            both.hdel(_KEYS[1], sweep)
            both.execute()

    def claims(self) -> tuple[ShareClaim, ...]:
        told: list[str] = self._noted.run(_KEYS)
        found = (_read(body) for body in told)
        return tuple(sorted((claim for claim in found if claim is not None), key=lambda claim: claim.sweep))


def _read(body: str) -> ShareClaim | None:
    """Read a claim; one of another version of the farm is left out."""
    try:
        return parse_record(ShareClaim, body.encode(), "a claim of a share")
    except IntegrityError:
        return None
