"""An MCP server in plain Python, and what it says of the place where it runs.

`SERVER` is the program's text. Its tool `look` answers with `SEEN ` and JSON.
"""

import json
from typing import Any

SERVER = """
import json, os, socket, sys

def reach(family, place):
    try:
        with socket.socket(family) as caller:
            caller.settimeout(5)
            caller.connect(place)
            return "reached"
    except OSError as error:
        return type(error).__name__

def write(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return type(error).__name__
    return "written"

def look():
    return "SEEN " + json.dumps({
        "environment": dict(os.environ),
        "door": [reach(socket.AF_UNIX, "/run/model.sock"), reach(socket.AF_INET, ("127.0.0.1", 8080))],
        "interfaces": [name for _, name in socket.if_nameindex()],
        "reads": open("/cell/ws/README.md").read(),
        "writes": [write("/cell/ws/made"), write(__file__)],
    })

TOOLS = [{"name": name, "description": "Tells.", "inputSchema": {"type": "object"}} for name in ("look", "hide")]

def answer(asked):
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    if asked["method"] == "tools/list":
        return {"tools": TOOLS}
    if asked["method"] == "tools/call":
        return {"content": [{"type": "text", "text": look()}]}
    return {}

for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer(asked)}), flush=True)
"""


def seen(events: bytes) -> dict[str, Any]:
    """Find what the server said in an agent's events."""
    found = [text for line in events.splitlines() for text in _texts(json.loads(line)) if text.startswith("SEEN ")]
    answer: dict[str, Any] = json.loads(found[0].removeprefix("SEEN "))
    return answer


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for each in value.values() for text in _texts(each)]
        case list():
            return [text for each in value for text in _texts(each)]
        case _:
            return []
