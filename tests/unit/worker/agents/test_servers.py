"""A server of an arm: what starts it, and what is refused before anything is paid for."""

import pytest
from pydantic import ValidationError

from worker.agents.servers import McpServer


def a_server(*argv: str, **more: object) -> McpServer:
    return McpServer.model_validate({"asset": "tools", "argv": argv or ("python3", "{asset}/server.py"), **more})


def test_a_server_is_started_in_the_sessions_server_room_from_its_asset() -> None:
    assert a_server().command == ("/.server", "python3", "/cell/assets/tools/server.py")


def test_what_it_finds_in_its_environment_stands_in_its_command() -> None:
    server = a_server("{asset}/run", "--root={asset}/data", env={"A": "1", "B_2": "x y"})
    assert server.command == (
        *("/.server", "env", "A=1", "B_2=x y"),
        *("/cell/assets/tools/run", "--root=/cell/assets/tools/data"),
    )


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"argv": ["python3", "-m", "server"]}, "names nothing in the asset"),
        ({"argv": ["a=b", "{asset}/server.py"]}, "holds a '='"),
        ({"argv": ["{asset}/run", "${HOME}"]}, "fills from its own environment"),
        ({"env": {"KEY": "${ANTHROPIC_API_KEY}"}}, "fills from its own environment"),
        ({"env": {"A=B": "1"}}, "env"),
        ({"tools": ["look", "a.b"]}, "tools"),
        ({"asset": "../x"}, "asset"),
    ],
)
def test_a_server_that_is_not_what_the_plan_pins_is_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        McpServer.model_validate({"asset": "tools", "argv": ["{asset}/run"], **wrong})
