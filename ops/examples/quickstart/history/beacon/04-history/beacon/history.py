"""What was up the last time."""

import json
import os
import pathlib

PATH = pathlib.Path(os.environ.get("BEACON_HISTORY", "history.json"))


def load():
    """Read the last states; {} when there are none yet."""
    return json.loads(PATH.read_text(encoding="utf-8")) if PATH.exists() else {}


def save(states):
    """Write the states for the next time."""
    PATH.write_text(json.dumps(states, indent=2, sort_keys=True) + "\n", encoding="utf-8")
