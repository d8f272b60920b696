"""RabbitMQ as the carrier of tickets, on the dispatcher's suite."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest

from farm.adapters.celery import CeleryDispatcher, make_app, ping, queue_named
from farm.errors import SpecError, TransientError
from farm.model import ANYWHERE, Ticket
from farm.testing.coordination import DispatcherSuite
from farm.testing.leases import a_ticket
from tests.services.programs import free_port
from tests.services.rabbitmq import RabbitServer


class TestRabbitDispatcher(DispatcherSuite):
    @pytest.fixture
    def dispatcher(self, rabbitmq_server: RabbitServer) -> Iterator[CeleryDispatcher]:
        app = make_app(rabbitmq_server.url)
        with app.connection_for_write() as connection:
            queue = queue_named(ANYWHERE)(connection.channel())
            queue.declare()
            queue.purge()
        yield CeleryDispatcher(app)
        app.close()

    @pytest.fixture
    def delivered(self, rabbitmq_server: RabbitServer) -> Callable[[], tuple[Ticket, ...]]:
        def delivered() -> tuple[Ticket, ...]:
            found = list[Ticket]()
            with make_app(rabbitmq_server.url).connection_for_read() as connection:
                queue = queue_named(ANYWHERE)(connection.channel())
                while (message := queue.get(no_ack=True)) is not None:
                    (ticket,), _, _ = message.decode()
                    found.append(Ticket.model_validate(ticket))
            return tuple(found)

        return delivered


def test_a_broker_says_that_it_is_there_and_not_its_password(rabbitmq_server: RabbitServer) -> None:
    assert ping(make_app(rabbitmq_server.url)) == f"amqp://guest:**@127.0.0.1:{urlsplit(rabbitmq_server.url).port}//"


@pytest.mark.parametrize("ask", [ping, lambda app: CeleryDispatcher(app).send(a_ticket())], ids=["ping", "send"])
def test_a_broker_that_refuses_us_is_for_a_person_and_one_that_is_away_for_later(
    rabbitmq_server: RabbitServer, ask: Callable[..., object]
) -> None:
    with pytest.raises(SpecError, match="FARM_BROKER_URL") as refused:
        ask(make_app(rabbitmq_server.url.replace("guest:guest", "guest:secret")))
    with pytest.raises(SpecError, match="FARM_BROKER_URL"):
        ask(make_app(rabbitmq_server.url + "nowhere"))
    with pytest.raises(TransientError, match="the broker amqp://guest") as away:
        ask(make_app(f"amqp://guest:secret@127.0.0.1:{free_port()}//"))
    assert "secret" not in f"{refused.value}{away.value}"
