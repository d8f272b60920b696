"""The providers that a worker can reach, by name: what FARM_PROVIDERS says, over those that everybody knows.

    # FARM_PROVIDERS=/etc/cellfarm/providers.yaml
    anthropic: {wires: [anthropic], url: https://proxy.example/anthropic, key_file: /run/secrets/anthropic}
    local: {wires: [chat], url: http://127.0.0.1:8000, translate: anthropic}

With `translate`, agents that speak Anthropic Messages can ask a provider that speaks an OpenAI wire; the extra
`litellm` does it.

A key stands in an environment variable of the worker or in a file, never in this one. It is looked up when a session
begins, so that a new key needs no restart where it stands in a file.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

import yaml
from pydantic import Field, TypeAdapter, ValidationError, model_validator

from farm.errors import SpecError, TransientError
from farm.model import Name, Value, Wire
from worker.translator import INSTALL, UNDERSTOOD

_MOST_FILE_BYTES = 1 << 20
_MOST_KEY_BYTES = 16 << 10
_VERSION = re.compile(r"v[0-9]+(?:beta)?")
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Provider(Value):
    """Where a provider is, what it speaks, and where its key stands."""

    wires: Annotated[tuple[Wire, ...], Field(min_length=1)]
    url: Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$")]
    """What comes before a request's own path (`/v1/messages`, …), which brings the API's version."""
    key_env: Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    key_file: Path | None = None
    """Neither: the provider wants no key."""
    translate: Literal[Wire.ANTHROPIC] | None = None
    """A wire that it does not speak, and that agents may speak to it all the same."""

    @model_validator(mode="after")
    def _can_be_translated(self) -> Self:
        if self.translate in self.wires:
            raise ValueError(f"the provider speaks {self.translate} itself; leave translate out")
        if self.translate is not None and not any(wire in self.wires for wire in UNDERSTOOD):
            raise ValueError(
                f"{self.translate} can be translated into {' and '.join(UNDERSTOOD)}; wires has none of them"
            )
        return self

    @model_validator(mode="after")
    def _key_is_kept(self) -> Self:
        if self.key_env is not None and self.key_file is not None:
            raise ValueError("a key stands in one place: key_env or key_file")
        has_key = self.key_env is not None or self.key_file is not None
        if has_key and self.url.startswith("http://") and urlsplit(self.url).hostname not in _LOOPBACK:
            raise ValueError("a key is sent over https://, or to this machine's own loopback")
        return self

    @model_validator(mode="after")
    def _version_comes_with_the_request(self) -> Self:
        last = self.url.rstrip("/").rpartition("/")[2]
        if _VERSION.fullmatch(last):
            raise ValueError(f"leave the last part, {last!r}, out of the URL: each request's own path brings it")
        return self


_KNOWN = {
    "anthropic": Provider(wires=(Wire.ANTHROPIC,), url="https://api.anthropic.com", key_env="ANTHROPIC_API_KEY"),
    "openai": Provider(wires=(Wire.RESPONSES, Wire.CHAT), url="https://api.openai.com", key_env="OPENAI_API_KEY"),
    "gemini": Provider(wires=(Wire.GEMINI,), url="https://generativelanguage.googleapis.com", key_env="GEMINI_API_KEY"),
}
_FILE = TypeAdapter(dict[Name, Provider])


def read_providers(path: Path | None) -> Mapping[str, Provider]:
    """Give the providers by name; raise SpecError naming the file, the field and the value that is wrong."""
    return _KNOWN if path is None else {**_KNOWN, **_read(path)}


def ensure_translated(providers: Mapping[str, Provider], *, has_translator: bool) -> None:
    """Raise SpecError when a provider is to be translated and this host can't."""
    for name, provider in providers.items():
        if provider.translate is not None and not has_translator:
            raise SpecError(f"FARM_PROVIDERS: {name}.translate needs LiteLLM; {INSTALL}, or leave it out")


def key_of(name: str, provider: Provider, environment: Mapping[str, str]) -> str:
    """Give the provider's key, empty when it wants none; raise TransientError when this host does not have it."""
    if provider.key_env is not None:
        key = environment.get(provider.key_env, "").strip()
        place = f"the environment variable {provider.key_env}"
    elif provider.key_file is not None:
        key, place = _key_in(name, provider.key_file), f"the file {provider.key_file}"
    else:
        return ""
    if not key or not key.isascii() or not key.isprintable():
        raise TransientError(f"this host has no key for the provider {name!r}: {place} holds none; set it there")
    return key


def _read(path: Path) -> Mapping[str, Provider]:
    try:
        body = path.read_bytes()[: _MOST_FILE_BYTES + 1]
        if len(body) > _MOST_FILE_BYTES:
            raise SpecError(f"FARM_PROVIDERS: {path} is above {_MOST_FILE_BYTES} bytes; is it the right file?")
        return _FILE.validate_python(yaml.safe_load(body) or {})
    except OSError as error:
        raise SpecError(f"FARM_PROVIDERS: {path} can't be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SpecError(f"FARM_PROVIDERS: {path} is not YAML: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors(include_input=False)[0]  # it may be a key in the wrong place
        place = ".".join(str(part) for part in first["loc"]) or "the top"
        raise SpecError(f"FARM_PROVIDERS: {path}: {place}: {first['msg']}") from None


def _key_in(name: str, path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_KEY_BYTES).decode("ascii", "replace").strip()
    except OSError as error:
        raise TransientError(
            f"this host has no key for the provider {name!r}: {path} can't be read: {error.strerror}"
        ) from None
