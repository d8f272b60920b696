"""Asking one site."""

import os
import urllib.error
import urllib.request

TIMEOUT_S = float(os.environ.get("BEACON_TIMEOUT_S", "20"))


def is_up(url):
    """Say whether `url` answers with a status below 500."""
    try:
        with urllib.request.urlopen(url, timeout=TIMEOUT_S) as answer:
            return answer.status < 500
    except urllib.error.HTTPError as error:
        return error.code < 500
    except OSError:
        return False
