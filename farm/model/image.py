"""Images of root file systems, which tasks bring: named so that no two hosts can mean different bytes."""

import re
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_PINNED = re.compile(r"(?:[A-Za-z0-9][A-Za-z0-9._:/-]*@)?sha256:[0-9a-f]{64}")


def _pinned(text: str) -> str:
    if not _PINNED.fullmatch(text):
        raise ValueError(
            f"{text!r} is not named by digest, and a tag moves; write name@sha256:… as `docker images --digests` says, "
            "or sha256:…, a local image's id, as `docker images --no-trunc` says"
        )
    return text


ImageName = Annotated[str, StringConstraints(max_length=512), AfterValidator(_pinned)]
"""`name@sha256:…`, which a registry has; or `sha256:…`, an id: only hosts have it to which a person brought it."""
