"""Telling people."""

import json
import urllib.request
from os import getenv

PREFIX = "BEACON_"


def setting(name, default=None):
    """Read one of our variables."""
    return getenv(PREFIX + name, default)


def send(site):
    """Post an alert, when there is somewhere to post it."""
    webhook = setting("WEBHOOK")
    if webhook is None:
        return
    body = json.dumps({"channel": setting("CHANNEL", "ops"), "text": f"{site} is down"})
    urllib.request.urlopen(webhook, data=body.encode(), timeout=10)
