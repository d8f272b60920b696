"""A plug-in's options that are wrong are told by their place."""

import pytest
from pydantic import JsonValue

from farm.errors import SpecError
from farm.plugins import Plugins

PLUGINS = Plugins()


@pytest.mark.parametrize(
    ("group", "name", "options", "told"),
    [
        ("agents", "command", {"argv": []}, "the agent 'command', argv: "),
        ("agents", "scripted", {}, "the agent 'scripted', scripts: Field required"),
        ("oracles", "answer", {}, "the oracle 'answer', expected: Field required"),
        ("oracles", "command", {"argv": ["true"], "reads": "tea"}, "the oracle 'command', reads: "),
        ("oracles", "pytest", {"tests": ["a"]}, "the oracle 'pytest', tests.0: "),
    ],
)
def test_the_first_place_that_is_wrong_is_named(group: str, name: str, options: JsonValue, told: str) -> None:
    with pytest.raises(SpecError) as caught:
        PLUGINS.load(group, name)(options)  # type: ignore[arg-type]  # a group's name
    assert str(caught.value).startswith(told)
