"""A small agent: asks a model by Anthropic Messages, does what it says with three tools, and tells what it did.

Stands alone: it is laid into a sandbox and run by whichever Python 3 the host has. Every session ends with exactly one
result event, also when the provider fails. Usage is forwarded as it came, never completed: a number that one answer
lacks, or has in another form, is not in the sum.
"""

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable
from typing import Any

MOST_OUTPUT_CHARS = 30_000
COMMAND_S = 600
ANSWER_S = 900
MOST_TOKENS = 8192
OK = 200

TOOLS = [
    {
        "name": "Write",
        "description": "Write a file of the workspace, in place of what was there.",
        "input_schema": {
            "type": "object",
            "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["file_path", "content"],
        },
    },
    {
        "name": "Bash",
        "description": "Run a shell command in the workspace.",
        "input_schema": {
            "type": "object",
            "properties": {"command": {"type": "string"}},
            "required": ["command"],
        },
    },
    {
        "name": "Skill",
        "description": "Read a skill of the workspace by its name.",
        "input_schema": {
            "type": "object",
            "properties": {"skill": {"type": "string"}, "args": {"type": "string"}},
            "required": ["skill"],
        },
    },
]


class ProviderError(Exception):
    """The provider gave no answer that can be worked with."""


class ToolError(Exception):
    """A tool was used wrongly, or failed; the model is told."""


def main() -> int:
    """Run one session; the prompt is on standard input."""
    options = read_options()
    session = Session(options)
    session.tell(
        {"type": "system", "subtype": "init", "model": options.model, "tools": [tool["name"] for tool in TOOLS]}
    )
    try:
        subtype, answer = session.converse(sys.stdin.read())
    except ProviderError as error:
        subtype, answer = "error_provider", str(error)
    session.end(subtype, answer)
    return 0 if subtype == "success" else 1


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser()
    for name in ("--model", "--version", "--tool"):
        parser.add_argument(name, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--most-turns", type=int, required=True)
    parser.add_argument("--deny", action="append", default=[])
    parser.add_argument("--instructions")
    parser.add_argument("--conversation")
    return parser.parse_args()


class Session:
    """One conversation."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.id = str(uuid.uuid4())
        self.turns = 0
        self.usages: list[dict[str, Any]] = []
        self.denials: list[dict[str, Any]] = []
        self.system = ""
        if options.instructions:
            with open(options.instructions, encoding="utf-8") as file:  # noqa: PTH123 (stands alone, and starts fast)
                self.system = file.read()

    def tell(self, event: dict[str, Any]) -> None:
        """Write one event."""
        event = {**event, "session_id": self.id, "claude_code_version": self.options.version}
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()

    def end(self, subtype: str, answer: str) -> None:
        """Write the result."""
        self.tell(
            {
                "type": "result",
                "subtype": subtype,
                "is_error": subtype != "success",
                "num_turns": self.turns,
                "result": answer,
                "usage": total(self.usages),
                "permission_denials": self.denials,
            }
        )

    def converse(self, prompt: str) -> tuple[str, str]:
        """Go on until the model has said its last word; give the result's subtype and text."""
        messages = [*self.earlier(), {"role": "user", "content": prompt}]
        while self.turns < self.options.most_turns:
            answer = self.ask(messages)
            self.turns += 1
            blocks = answer["content"]
            self.usages.append(answer["usage"] if isinstance(answer.get("usage"), dict) else {})
            for block in blocks:
                said = {"id": answer["id"], "model": answer.get("model"), "role": "assistant", "content": [block]}
                self.tell({"type": "assistant", "message": said})
            calls = [block for block in blocks if block.get("type") == "tool_use"]
            if not calls:
                self.keep([*messages, {"role": "assistant", "content": blocks}])
                return "success", "".join(str(block.get("text", "")) for block in blocks)
            results = [self.use(call) for call in calls]
            messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
            self.tell({"type": "user", "message": {"role": "user", "content": results}})
        return "error_max_turns", f"the model wanted more than {self.options.most_turns} turns"

    def earlier(self) -> list[dict[str, Any]]:
        """Read what was said in the session that this one goes on with."""
        place = self.options.conversation
        if place is None or not os.path.exists(place):  # noqa: PTH110 (as above)
            return []
        with open(place, encoding="utf-8") as file:  # noqa: PTH123
            return list(json.load(file))

    def keep(self, messages: list[dict[str, Any]]) -> None:
        """Write what was said for the session that goes on with this one."""
        place = self.options.conversation
        if place is not None:
            os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120
            with open(place, "w", encoding="utf-8") as file:  # noqa: PTH123
                json.dump(messages, file)

    def ask(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """Send the conversation and give the answer; ProviderError for all that is none."""
        body = {"model": self.options.model, "max_tokens": MOST_TOKENS, "messages": messages, "tools": TOOLS}
        if self.system:
            body["system"] = self.system
        headers = {"content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": "none"}
        door = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=ANSWER_S)
        try:
            door.request("POST", "/v1/messages", json.dumps(body), headers)
            answered = door.getresponse()
            told = answered.read()
        except (OSError, http.client.HTTPException) as error:
            raise ProviderError(f"no answer: {error}") from None
        finally:
            door.close()
        return understood(answered.status, told)

    def use(self, call: dict[str, Any]) -> dict[str, Any]:
        """Do what one tool call asks for."""
        try:
            said, failed = self.do(call.get("name"), call.get("input")), False
        except (ToolError, OSError, ValueError) as error:
            said, failed = str(error), True
        return {
            "type": "tool_result",
            "tool_use_id": call.get("id"),
            "content": said[:MOST_OUTPUT_CHARS],
            "is_error": failed,
        }

    def do(self, name: object, given: object) -> str:
        """Use a tool and give what it says; ToolError for what it can't do."""
        tools: dict[object, Callable[[dict[str, Any]], str]] = {"Write": write, "Bash": self.run, "Skill": skill}
        if name in self.options.deny:
            self.denials.append({"tool_name": name, "tool_input": given})
            raise ToolError(f"the tool {name} is denied in this session")
        if name not in tools or not isinstance(given, dict):
            raise ToolError(f"there is no tool {name!r} that takes this")
        return tools[name](given)

    def run(self, given: dict[str, Any]) -> str:
        """Run a command where it has no door."""
        command = word(given, "command")
        try:
            ran = subprocess.run(  # noqa: S603 (what the model asks for, in a sandbox of its own)
                [self.options.tool, "sh", "-c", command],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"the command did not end within {COMMAND_S} s") from None
        said = ran.stdout.decode("utf-8", "replace")
        if ran.returncode != 0:
            raise ToolError(f"exit code {ran.returncode}\n{said}")
        return said


def understood(status: int, told: bytes) -> dict[str, Any]:
    """Read an answer; ProviderError for an error, and for what is no message."""
    if status != OK:
        raise ProviderError(f"{status}: {told[:500].decode('utf-8', 'replace')}")
    try:
        answer = json.loads(told)
    except ValueError:
        raise ProviderError("the answer is no JSON") from None
    blocks = answer.get("content") if isinstance(answer, dict) else None
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ProviderError("the answer holds no content")
    if not isinstance(answer.get("id"), str):
        raise ProviderError("the answer has no id")
    return dict(answer)


def total(usages: list[dict[str, Any]]) -> dict[str, int]:
    """Add up what every answer states as a whole number."""
    names = set[str]().union(*usages)
    stated = {name: [usage.get(name) for usage in usages] for name in sorted(names)}
    return {
        name: sum(number for number in numbers if number is not None)
        for name, numbers in stated.items()
        if all(type(number) is int and number >= 0 for number in numbers)
    }


def word(given: dict[str, Any], name: str) -> str:
    """Give a field that must be text."""
    found = given.get(name)
    if not isinstance(found, str) or "\0" in found:
        raise ToolError(f"{name!r} must be text")
    return found


def write(given: dict[str, Any]) -> str:
    """Write a file, whole or not at all."""
    place, content = inside(word(given, "file_path")), word(given, "content")
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120 (as above)
    handle, draft = tempfile.mkstemp(dir=os.path.dirname(place))  # noqa: PTH120
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(content)
    os.chmod(draft, 0o644)  # noqa: PTH101
    os.replace(draft, place)  # noqa: PTH105
    return f"wrote {len(content)} characters"


def skill(given: dict[str, Any]) -> str:
    """Read a skill of the workspace."""
    name = word(given, "skill").rpartition(":")[2]
    with open(inside(f".claude/skills/{name}/SKILL.md"), encoding="utf-8") as file:  # noqa: PTH123
        return file.read()


def inside(path: str) -> str:
    """Give a path below the current folder; ToolError for any other."""
    top = os.path.realpath(".")
    place = os.path.realpath(path)
    if not place.startswith(f"{top}/"):
        raise ToolError(f"{path!r} is outside the workspace")
    return place


if __name__ == "__main__":
    sys.exit(main())
