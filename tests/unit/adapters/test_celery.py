import pytest

from farm.adapters.celery import RUN_CELL, broker_url, make_app, register
from farm.errors import SpecError
from farm.model import ANYWHERE, Ticket
from farm.testing.leases import a_ticket


@pytest.mark.parametrize(
    ("farm", "celery"),
    [
        ("redis://:pw@host:6379/3", "redis://:pw@host:6379/3"),
        ("rediss://host/0", "rediss://host/0"),
        ("amqps://user:pw@host//", "amqps://user:pw@host//"),
        ("unix:///run/farm/redis.sock?db=2", "redis+socket:///run/farm/redis.sock?virtual_host=2"),
        ("unix://:pw@/run/redis.sock", "redis+socket://:pw@/run/redis.sock?virtual_host=0"),
    ],
)
def test_a_farms_redis_url_becomes_celerys(farm: str, celery: str) -> None:
    assert broker_url(farm) == celery


def test_a_url_that_cannot_carry_tickets_is_refused_without_its_password() -> None:
    with pytest.raises(SpecError, match="FARM_REDIS_URL") as refused:
        broker_url("sqs://user:secret@host")
    assert "secret" not in str(refused.value)


def test_tickets_are_acknowledged_early_and_nothing_is_prefetched() -> None:
    conf = make_app("redis://localhost/0").conf
    assert not conf.task_acks_late
    assert conf.worker_disable_prefetch
    assert not conf.task_reject_on_worker_lost
    assert not conf.worker_cancel_long_running_tasks_on_connection_loss
    assert conf.task_default_queue == ANYWHERE
    assert conf.broker_transport_options["visibility_timeout"] == conf.visibility_timeout
    assert conf.broker_transport_options["global_keyprefix"] == "farm:celery:"


def test_what_is_registered_gets_the_ticket() -> None:
    app, taken = make_app("redis://localhost/0"), list[Ticket]()
    register(app, taken.append)
    app.tasks[RUN_CELL](a_ticket(3).model_dump(mode="json"))
    assert taken == [a_ticket(3)]


def test_rabbitmq_confirms_each_ticket_and_is_told_nothing_that_redis_alone_knows() -> None:
    conf = make_app("amqp://localhost//").conf
    assert conf.broker_transport_options["confirm_publish"]
    assert "global_keyprefix" not in conf.broker_transport_options
    assert (conf.task_acks_late, conf.worker_disable_prefetch, conf.worker_prefetch_multiplier) == (False, False, 1)
