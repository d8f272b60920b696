"""Asking one site."""

import os
import urllib.error
import urllib.request

TIMEOUT = float(os.environ.get("BEACON_TIMEOUT", "5"))
RETRIES = int(os.environ.get("BEACON_RETRIES", "3"))


def answers(url):
    """Say whether `url` answers once with a status below 500."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as answer:
            return answer.status < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False


def is_up(url):
    """Ask up to RETRIES times."""
    return any(answers(url) for _ in range(RETRIES))
