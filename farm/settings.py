"""Settings from the environment (FARM_*), read once, in a bootstrap."""

from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from farm.errors import SpecError
from farm.ports import StoreAccess

S = TypeVar("S", bound="FarmSettings")


class FarmSettings(BaseSettings):
    """Where the farm's services are. Everything has a default that works on one machine."""

    model_config = SettingsConfigDict(env_prefix="FARM_", extra="ignore")

    redis_url: str | None = None
    """None: `farm run` starts a private server for the run."""
    broker_url: str | None = None
    """Who carries tickets, `amqp://…`; None: the Redis. Leases and all else stay there."""
    store: str | None = None
    """`file:///…` or `s3://bucket/prefix`; None: the folder .farm/store below the current one."""
    s3_endpoint_url: str | None = None
    s3_region: str | None = None
    s3_path_style: bool = False
    s3_access_key: str | None = None
    s3_secret_key: SecretStr | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must appear in no log and no record."""
        passwords = (_password(self.redis_url or ""), _password(self.broker_url or ""))
        s3 = self.s3_secret_key.get_secret_value() if self.s3_secret_key else None
        return tuple(secret for secret in (*passwords, s3) if secret)

    @property
    def tickets_url(self) -> str | None:
        """Who carries tickets."""
        return (self.broker_url or self.redis_url) if self.redis_url is not None else None

    @property
    def store_url(self) -> str:
        return self.store or (Path.cwd() / ".farm" / "store").as_uri()

    @property
    def store_access(self) -> StoreAccess:
        return StoreAccess(
            endpoint_url=self.s3_endpoint_url,
            region=self.s3_region,
            path_style=self.s3_path_style,
            access_key=self.s3_access_key,
            secret_key=self.s3_secret_key.get_secret_value() if self.s3_secret_key else None,
        )


def _password(url: str) -> str | None:
    try:
        found = urlsplit(url).password
    except ValueError:  # whoever connects says so
        return None
    return None if found is None else unquote(found)


def read(kind: type[S]) -> S:
    """Read FARM_* from the environment; raise SpecError naming the variable that is wrong."""
    try:
        return kind()
    except ValidationError as error:
        first = error.errors()[0]
        name = "FARM_" + "_".join(str(part) for part in first["loc"]).upper()
        raise SpecError(f"{name} is {first['input']!r}: {first['msg']}") from error
