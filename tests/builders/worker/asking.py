"""An agent of a few lines that asks its model through the door."""

from typing import Any

from farm.model import Pin, Wire
from tests.builders.sandbox_rooms import system_python

ASK = """
import json, os, sys, urllib.error, urllib.request
def ask(model):
    body = {"model": model, "max_tokens": 50, "messages": [{"role": "user", "content": sys.stdin.read() or "Go on."}]}
    headers = {"content-type": "application/json", "x-api-key": "none"}
    request = urllib.request.Request("http://127.0.0.1:8080/v1/messages", json.dumps(body).encode(), headers)
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=20) as answer:
        return json.load(answer)["content"][0]["text"]
said, errors = "", []
for model in sys.argv[1:]:
    try:
        said = ask(model)
    except urllib.error.HTTPError as error:
        errors.append(error.code)
        said = ""
print(json.dumps({"type": "result", "result": said, "errors": errors, "is_error": bool(errors) and not said}))
"""


def asks(*models: str, **options: Any) -> Pin:
    """Pin a command that asks each of `models` once and answers with what the last of them said."""
    found: dict[str, Any] = {
        "argv": [str(system_python()), "-I", "-S", "-c", ASK, *models],
        "answer": {"from": "json", "pointer": "/result"},
        "error": {"pointer": "/is_error"},
        "wire": Wire.ANTHROPIC.value,
    }
    return Pin(name="command", version="1", options=found | options)
