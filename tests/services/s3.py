"""A real S3 server on loopback ports: SeaweedFS, whose conditional writes were measured right."""

import secrets
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from farm.ports import StoreAccess
from tests.services.programs import free_port
from tests.services.server import ServerProcess

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_OFF = "-s3.port.iceberg=0 -s3.port.lance=0 -webdav=false -admin.ui=false -master.telemetry=false -volume.max=0"
_PORTS = ("s3", "master", "volume", "filer", "admin")


@dataclass(frozen=True)
class S3Place:
    """An empty place for one store."""

    url: str
    access: StoreAccess


@dataclass
class S3Server:
    """A server with one bucket; each test takes a prefix of its own."""

    process: ServerProcess
    access_key: str
    secret_key: str
    bucket: str = "farm"
    port: int = 0

    @property
    def access(self) -> StoreAccess:
        return self.access_through(self.port)

    def access_through(self, port: int) -> StoreAccess:
        """Give access by another loopback port, a proxy's."""
        return StoreAccess(
            endpoint_url=f"http://127.0.0.1:{port}",
            region="us-east-1",
            path_style=True,
            access_key=self.access_key,
            secret_key=self.secret_key,
        )

    def fresh_prefix(self) -> str:
        """Name a prefix that nothing is below."""
        return f"test-{secrets.token_hex(6)}"

    def fresh_place(self) -> S3Place:
        """Give a place of its own to a store."""
        return S3Place(f"s3://{self.bucket}/{self.fresh_prefix()}", self.access)

    def overwrite(self, key: str, body: bytes) -> None:
        """Replace an object's bytes, as no part of the farm can."""
        with closing(self._client()) as client:
            client.put_object(Bucket=self.bucket, Key=key, Body=body)

    def remove(self, path: str) -> None:
        """Remove the object of a request's path, as no part of the farm can."""
        with closing(self._client()) as client:
            client.delete_object(Bucket=self.bucket, Key=path.removeprefix(f"/{self.bucket}/"))

    def takes_objects(self) -> bool:
        """Say whether the bucket is there and takes an object: the server listens before it does."""
        probe = {"Bucket": self.bucket, "Key": "ready"}
        try:
            with closing(self._client()) as client:
                client.put_object(**probe, Body=b"")
                client.delete_object(**probe)
        except (BotoCoreError, ClientError):
            return False
        return True

    def _client(self) -> "S3Client":
        return boto3.client(
            "s3",
            endpoint_url=self.access.endpoint_url,
            region_name="us-east-1",
            aws_access_key_id=self.access_key,
            aws_secret_access_key=self.secret_key,
            config=Config(connect_timeout=2, read_timeout=5, retries={"total_max_attempts": 1}),
        )


def an_s3_server(binary: Path, folder: Path) -> S3Server:
    """Prepare a server that keeps its data in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)

    def command() -> list[str]:
        words = [str(binary), "mini", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", *_OFF.split()]
        for name in _PORTS:
            port = free_port()
            words += [f"-{name}.port={port}", f"-{name}.port.grpc={free_port()}"]
            if name == "s3":
                server.port = port
        return words

    def answers() -> bool:
        return server.takes_objects()

    access_key, secret_key = "farmtest", secrets.token_hex(16)
    env = {
        "AWS_ACCESS_KEY_ID": access_key,
        "AWS_SECRET_ACCESS_KEY": secret_key,
        "S3_BUCKET": "farm",
        "HOME": str(folder),
        "PATH": "/usr/bin:/bin",
    }
    server = S3Server(ServerProcess(command, answers, folder / "server.log", env), access_key, secret_key)
    return server
