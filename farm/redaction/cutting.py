"""Cutting text that is redacted later: a part of a secret is not known for one, so no part of a word is left."""

_CUT = "…"


def first_words(text: str, most: int) -> str:
    """Give at most `most` characters of the beginning of `text`: its last word is a whole one."""
    if len(text) <= most:
        return text
    end = most - len(_CUT)
    while end > 0 and not text[end].isspace():
        end -= 1
    return f"{text[:end]}{_CUT}"


def last_words(text: str, most: int) -> str:
    """Give at most `most` characters of the end of `text`: its first word is a whole one."""
    if len(text) <= most:
        return text
    start = len(text) - most + len(_CUT)
    while start < len(text) and not text[start - 1].isspace():
        start += 1
    return f"{_CUT}{text[start:]}"
