from pathlib import Path

import pytest

from farm.errors import SpecError
from worker.provider.load import load
from worker.provider.script import Script


def loaded(folder: Path, text: str) -> Script:
    (folder / "script.yaml").write_text(text)
    return load(folder / "script.yaml")


def test_a_script_is_read(tmp_path: Path) -> None:
    script = loaded(tmp_path, "rules:\n  - when: {prompt: hello, wire: chat}\n    reply: {text: Good day.}\n")
    assert script.rules[0].when.prompt == ("hello",)
    assert script.rules[0].reply is not None
    assert script.rules[0].reply.text == "Good day."


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", "its top: "),
        ("rules: []", "rules: "),
        ("rules: [{reply: {text: x, tool: []}}]", "rules[0].reply.tool: "),
        ("rules: [{reply: {text: x}}, {reply: {text: x, usage: {output: -1}}}]", "rules[1].reply.usage.output: "),
        ("rules: [{reply: {text: x, usage: {output: 1.5}}}]", "rules[0].reply.usage.output: "),
        ("rules: [{reply: {text: x, usage: {output: true}}}]", "rules[0].reply.usage.output: "),
        ("rules: [{reply: {text: x, usage: {output: 1, reasoning: 2}}}]", "rules[0].reply.usage: "),
        ("rules: [{when: {wire: telex}, reply: {text: x}}]", "rules[0].when.wire[0]: "),
        (
            "rules: [{turns: [{tools: [{write: {path: /etc/passwd, text: x}}]}]}]",
            "rules[0].turns[0].tools[0].write.path: ",
        ),
        ("rules: [{turns: [{tools: [{}]}]}]", "rules[0].turns[0].tools[0]: "),
        ("rules: [{}]", "rules[0]: "),
        ("rules: [{reply: {text: x}, turns: [{text: x}]}]", "rules[0]: "),
        ("rules: [{reply: {}}]", "rules[0].reply: "),
        ("rules: [{reply: {text: x, answer: y}}]", "rules[0].reply: "),
        ("rules: [{reply: {text: x, error: {status: 500}}}]", "rules[0].reply: "),
        ("rules: [{reply: {error: {status: 500}, stop: done}}]", "rules[0].reply: "),
        ("rules: [{reply: {text: x, malformed: cut, error: {status: 500}}}]", "rules[0].reply: "),
        ("rules: [{reply: {malformed: error, error: {status: 500}}}]", "rules[0].reply: "),
        ("rules: [{reply: {error: {status: 200}}}]", "rules[0].reply.error.status: "),
        ("rules: [{times: 0, reply: {text: x}}]", "rules[0].times: "),
    ],
)
def test_what_is_wrong_is_named_by_its_place(tmp_path: Path, text: str, place: str) -> None:
    with pytest.raises(SpecError) as caught:
        loaded(tmp_path, text)
    assert f"script.yaml: {place}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_yaml_or_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"script\.yaml is not YAML in line 2: expected"):
        loaded(tmp_path, "rules:\n  ]")
    with pytest.raises(SpecError, match=r"none\.yaml can't be read"):
        load(tmp_path / "none.yaml")
