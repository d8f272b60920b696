"""Digests as values: 64 lower-case hex digits of SHA-256, checked wherever they enter."""

import hashlib
import re
from typing import Any, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_HEX = re.compile(r"[0-9a-f]{64}")


class Digest(str):
    """The SHA-256 of some bytes, as 64 lower-case hex digits."""

    __slots__ = ()

    def __new__(cls, text: str) -> Self:
        if not _HEX.fullmatch(text):
            raise ValueError(f"{text!r} is not a digest: expected 64 lower-case hex digits of SHA-256")
        return super().__new__(cls, text)

    @classmethod
    def of(cls, body: bytes) -> Self:
        """Digest `body`."""
        return cls(hashlib.sha256(body).hexdigest())

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:  # noqa: ANN401 (pydantic's hook)
        return core_schema.no_info_after_validator_function(
            cls, core_schema.str_schema(), serialization=core_schema.plain_serializer_function_ser_schema(str)
        )
