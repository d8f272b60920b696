"""YAML to plain values and the line of each of them.

The values are those of JSON: the scalar rules are YAML 1.2's (so `on` and `12:30` are text), keys are text, and what
JSON can't say (dates, NaN, tags, keys that are lists) is refused or stays text.
"""

import math
import re
from dataclasses import dataclass

import yaml
from pydantic import JsonValue

from farm.planning.problems import Loc, Problem, ProblemsError

MOST_VALUES = 200_000
"""Of a file with its anchors written out: a sweep file is written by people."""

_TAG = "tag:yaml.org,2002:"
_MERGE = _TAG + "merge"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]  # (libyaml where it is built in)
    """YAML's composer with the scalar rules of YAML 1.2's core schema."""

    yaml_implicit_resolvers: dict[str, list[object]] = {}


_RULES = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
    "float": (
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
    "merge": (r"<<", ["<"]),
}
for _kind, (_pattern, _first) in _RULES.items():
    _Loader.add_implicit_resolver(_TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), _first)


@dataclass(frozen=True, slots=True)
class Tree:
    """A document's value and the line of every field in it."""

    value: JsonValue
    lines: dict[Loc, int]


def parse(text: str) -> Tree:
    """Parse one document; raise YAMLError for bad syntax, TreeError for what a sweep file can't hold."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    if node is None:
        return Tree(value=None, lines={})
    building = _Building()
    value = building.value(node, ())
    return Tree(value, building.lines)


class _Building:
    """One walk over a composed document."""

    def __init__(self) -> None:
        self.lines: dict[Loc, int] = {}
        self._open: list[yaml.Node] = []

    def value(self, node: yaml.Node, loc: Loc) -> JsonValue:
        self.lines.setdefault(loc, node.start_mark.line + 1)
        if len(self.lines) > MOST_VALUES:
            raise _refusal(node, loc, f"the file holds more than {MOST_VALUES} values with its anchors written out")
        if node in self._open:
            raise _refusal(node, loc, "an anchor holds itself; write the value out")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node, loc)
        self._open.append(node)
        value: JsonValue
        if isinstance(node, yaml.SequenceNode):
            _no_tag(node, loc, "seq")
            value = [self.value(child, (*loc, index)) for index, child in enumerate(node.value)]
        elif isinstance(node, yaml.MappingNode):
            _no_tag(node, loc, "map")
            value = self._mapping(node, loc)
        else:
            raise _refusal(node, loc, "a YAML node of no known kind")
        self._open.pop()
        return value

    def _mapping(self, node: yaml.MappingNode, loc: Loc) -> dict[str, JsonValue]:
        merged: dict[str, JsonValue] = {}
        for key, child in node.value:
            if key.tag == _MERGE:
                merged = self._merged(child, loc) | merged
        own: dict[str, JsonValue] = {}
        for key, child in node.value:
            if key.tag == _MERGE:
                continue
            if not isinstance(key, yaml.ScalarNode):
                raise _refusal(key, loc, "a key must be plain text")
            if key.value in own:
                first = self.lines[*loc, key.value]
                raise _refusal(key, (*loc, key.value), f"the key {key.value!r} stands twice (first in line {first})")
            self.lines[*loc, key.value] = key.start_mark.line + 1
            own[key.value] = self.value(child, (*loc, key.value))
        return merged | own

    def _merged(self, node: yaml.Node, loc: Loc) -> dict[str, JsonValue]:
        sources = node.value if isinstance(node, yaml.SequenceNode) else [node]
        merged: dict[str, JsonValue] = {}
        for source in sources:
            if not isinstance(source, yaml.MappingNode) or source in self._open:
                raise _refusal(node, loc, "'<<' merges mappings only, and none into itself")
            self._open.append(source)
            merged = self._mapping(source, loc) | merged
            self._open.pop()
        return merged


def _scalar(node: yaml.ScalarNode, loc: Loc) -> JsonValue:
    text: str = node.value
    match node.tag.removeprefix(_TAG):
        case "str" | "merge":
            return text
        case "null":
            return None
        case "bool":
            return text.lower() == "true"
        case "int":
            return _integer(node, loc)
        case "float":
            number = float(text) if text[-1] not in "fFnN" else math.inf
            if not math.isfinite(number):
                raise _refusal(node, loc, f"{text!r} is not a finite number; quote it if it is text")
            return number
        case tag:
            raise _refusal(node, loc, f"the tag {tag!r} is not allowed; write a plain value")


def _integer(node: yaml.ScalarNode, loc: Loc) -> int:
    text: str = node.value
    base = {"0x": 16, "0o": 8}.get(text[:2], 10)
    try:
        return int(text, base)
    except ValueError:
        raise _refusal(node, loc, f"a number of {len(text)} digits is too long; quote it if it is text") from None


def _no_tag(node: yaml.Node, loc: Loc, plain: str) -> None:
    if node.tag != _TAG + plain:
        raise _refusal(node, loc, f"the tag {node.tag.removeprefix(_TAG)!r} is not allowed; write a plain value")


def _refusal(node: yaml.Node, loc: Loc, text: str) -> "TreeError":
    return TreeError(node.start_mark.line + 1, Problem(loc, text))


class TreeError(ProblemsError):
    """A value that the file may not hold, and its line."""

    def __init__(self, line: int, problem: Problem) -> None:
        super().__init__([problem])
        self.problem = problem
        self.line = line
