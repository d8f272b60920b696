import pytest

from farm.adapters.celery import CeleryDispatcher, make_app
from farm.adapters.redis import connect
from farm.errors import SpecError, TransientError
from farm.model import CellEvent, EventKind, Lease, StopReason
from farm.testing.leases import LONG_S, SWEEP, a_lease, a_ticket
from tests.services.redis import RedisServer

EVENT = CellEvent(kind=EventKind.CLAIMED, index=1, attempt=1)


def test_a_restart_loses_no_lease_and_needs_no_new_connection(own_redis: RedisServer) -> None:
    farm = connect(own_redis.url)
    farm.leases.open_sweep(SWEEP)
    lease = farm.leases.claim(a_ticket(), "h/1/1", LONG_S)
    own_redis.restart()
    assert isinstance(lease, Lease)
    assert farm.leases.renew(lease, LONG_S).is_held
    assert farm.leases.live(SWEEP) == (lease,)
    farm.close()


def test_what_nobody_uses_goes_away_by_itself_also_what_is_written_after_a_sweep_is_forgotten(
    own_redis: RedisServer,
) -> None:
    farm = connect(own_redis.url)
    leases, month_s = farm.leases, 30 * 86_400

    def claim() -> None:
        leases.open_sweep(SWEEP)
        leases.claim(a_ticket(), "h/1/1", LONG_S)

    for write in (
        lambda: leases.open_sweep(SWEEP, paused_from=1),
        lambda: leases.announce(a_ticket()),
        lambda: leases.settle(SWEEP, a_ticket().cell, 0),
        claim,
        lambda: leases.renew(a_lease(a_ticket(), "h/1/1"), LONG_S),
    ):
        leases.forget(SWEEP)
        write()
        with own_redis.client() as client:
            kept_s = [client.ttl(key) for key in client.scan_iter("farm:leases:*")]
        assert min(kept_s) > month_s - 60
    farm.close()


def test_a_wipe_that_forgets_the_scripts_too_is_answered(own_redis: RedisServer) -> None:
    farm = connect(own_redis.url)
    farm.leases.announce(a_ticket())
    own_redis.flush()
    assert farm.leases.renew(a_lease(a_ticket(), "h/1/1"), LONG_S).is_held
    farm.close()


def test_a_server_that_is_down_is_a_transient_error_of_every_port(own_redis: RedisServer) -> None:
    farm = connect(own_redis.url)
    farm.ping()
    own_redis.process.kill()
    calls = (
        farm.ping,
        lambda: farm.leases.open_sweep(SWEEP),
        lambda: farm.leases.claim(a_ticket(), "h/1/1", LONG_S),
        lambda: farm.leases.live(SWEEP),
        lambda: farm.signals.order_stop(SWEEP, StopReason.CANCEL),
        lambda: farm.signals.stop_reason(SWEEP),
        farm.hosts.live,
        lambda: farm.events.publish(SWEEP, EVENT),
        lambda: farm.events.receive(SWEEP, 1.0),
        lambda: farm.leadership.lead(SWEEP, "a", LONG_S),
        lambda: CeleryDispatcher(make_app(own_redis.url)).send(a_ticket()),
    )
    for call in calls:
        with pytest.raises(TransientError, match=r"Redis|broker"):
            call()
    farm.close()


def test_a_full_server_refuses_tickets_and_leases_for_now(own_redis: RedisServer) -> None:
    farm = connect(own_redis.url)
    farm.leases.open_sweep(SWEEP)
    with own_redis.client() as client:
        client.config_set("maxmemory", "1")
        with pytest.raises(TransientError):
            farm.leases.claim(a_ticket(), "h/1/1", LONG_S)
        with pytest.raises(TransientError):
            CeleryDispatcher(make_app(own_redis.url)).send(a_ticket())
        client.config_set("maxmemory", "0")
    assert isinstance(farm.leases.claim(a_ticket(), "h/1/1", LONG_S), Lease)
    farm.close()


def test_ping_refuses_a_server_that_evicts(own_redis: RedisServer) -> None:
    farm = connect(own_redis.url)
    with own_redis.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        farm.ping()
        client.config_set("maxmemory", str(64 << 20))
    with pytest.raises(SpecError, match="noeviction"):
        farm.ping()
    farm.close()


def test_a_wrong_password_is_the_persons_to_change_and_is_not_shown(own_redis: RedisServer) -> None:
    with own_redis.client() as client:
        client.config_set("requirepass", "right")
    for url in (own_redis.url, own_redis.url.replace("//", "//:wrong-secret@")):
        with pytest.raises(SpecError, match="password") as refused:
            connect(url).ping()
        assert "wrong-secret" not in str(refused.value)
    connect(own_redis.url.replace("//", "//:right@")).ping()


def test_a_database_that_is_not_there_is_the_persons_to_change(own_redis: RedisServer) -> None:
    with pytest.raises(SpecError, match="database"):
        connect(own_redis.url.removesuffix("/0") + "/99").ping()


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://localhost:port/0", ""])
def test_a_url_that_is_not_redis_is_refused(url: str) -> None:
    with pytest.raises(SpecError, match="Redis URL"):
        connect(url)
