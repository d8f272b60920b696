"""The S3 requests that we make, one each, without a retry: what botocore raises goes up."""

import base64
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from hashlib import sha256
from io import BufferedReader
from typing import TYPE_CHECKING, Any

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError

from farm.adapters.s3.failures import FAILURES, refusal
from farm.errors import SpecError
from farm.model import Digest
from farm.ports import StoreAccess

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import CompletedPartTypeDef, ListObjectsV2RequestTypeDef

_CHUNK_BYTES = 1 << 20
_CONFIG: dict[str, Any] = {
    "connect_timeout": 5,
    "read_timeout": 30,
    "retries": {"total_max_attempts": 1},
    "request_checksum_calculation": "when_required",  # we send SHA-256 ourselves
    "response_checksum_validation": "when_required",  # we ask for it where it covers the whole object
    "max_pool_connections": 20,
    "tcp_keepalive": True,
    "signature_version": "s3v4",
}


@dataclass(frozen=True, slots=True)
class Page:
    """Some keys, and what to ask on with ("" at the end)."""

    keys: tuple[str, ...]
    token: str


class Wire:
    """One bucket's objects below a prefix. Thread-safe; not to be carried over a fork."""

    def __init__(self, bucket: str, prefix: str, access: StoreAccess) -> None:
        self.url = f"s3://{bucket}/{prefix}".rstrip("/")
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        if (access.access_key is None) != (access.secret_key is None):
            raise SpecError(f"{self.url} needs both of FARM_S3_ACCESS_KEY and FARM_S3_SECRET_KEY, or neither")
        try:
            self._client = boto3.session.Session().client(
                "s3",
                endpoint_url=access.endpoint_url,
                region_name=access.region or ("us-east-1" if access.endpoint_url else None),
                aws_access_key_id=access.access_key,
                aws_secret_access_key=access.secret_key,
                config=Config(s3={"addressing_style": "path" if access.path_style else "auto"}, **_CONFIG),
            )
        except BotoCoreError as failure:
            raise refusal(failure, self.url) from failure
        except ValueError as failure:
            raise SpecError(f"{self.url} can't be opened: {failure}; see to FARM_S3_ENDPOINT_URL") from failure

    def put(self, key: str, body: bytes | BufferedReader, digest: Digest) -> None:
        """Create an object unless there is one; the server checks the digest."""
        self._client.put_object(
            Bucket=self._bucket,
            Key=self._prefix + key,
            Body=body,
            IfNoneMatch="*",
            ChecksumSHA256=_base64(bytes.fromhex(digest)),
        )

    def put_parts(self, key: str, parts: Iterable[bytes]) -> None:
        """Create an object of many parts unless there is one; nothing stays of a failure."""
        name = self._prefix + key
        upload = self._client.create_multipart_upload(Bucket=self._bucket, Key=name, ChecksumAlgorithm="SHA256")
        upload_id = upload["UploadId"]
        try:
            sent = [self._part(name, upload_id, number, part) for number, part in enumerate(parts, start=1)]
            self._client.complete_multipart_upload(
                Bucket=self._bucket, Key=name, UploadId=upload_id, MultipartUpload={"Parts": sent}, IfNoneMatch="*"
            )
        except BaseException:
            with suppress(*FAILURES):  # parts that can't be aborted now are for the bucket's life-cycle rule
                self._client.abort_multipart_upload(Bucket=self._bucket, Key=name, UploadId=upload_id)
            raise

    def get(self, key: str, offset: int) -> Iterator[bytes]:
        """Yield an object's bytes from `offset` on, after one empty chunk that says that it exists."""
        name = self._prefix + key
        if offset:
            answer = self._client.get_object(Bucket=self._bucket, Key=name, Range=f"bytes={offset}-")
        else:
            answer = self._client.get_object(Bucket=self._bucket, Key=name, ChecksumMode="ENABLED")
        yield b""
        with closing(answer["Body"]) as body:
            yield from body.iter_chunks(_CHUNK_BYTES)

    def size(self, key: str) -> int:
        """Say how many bytes an object has."""
        return self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)["ContentLength"]

    def page(self, prefix: str, token: str) -> Page:
        """List some of the keys that start with `prefix`, in the server's own order."""
        where: ListObjectsV2RequestTypeDef = {"Bucket": self._bucket, "Prefix": self._prefix + prefix}
        if token:
            where["ContinuationToken"] = token
        answer = self._client.list_objects_v2(**where)
        keys = tuple(entry["Key"].removeprefix(self._prefix) for entry in answer.get("Contents", ()))
        return Page(keys, answer.get("NextContinuationToken", ""))

    def delete(self, key: str) -> None:
        """Delete an object."""
        self._client.delete_object(Bucket=self._bucket, Key=self._prefix + key)

    def _part(self, name: str, upload_id: str, number: int, body: bytes) -> "CompletedPartTypeDef":
        checksum = _base64(sha256(body).digest())
        answer = self._client.upload_part(
            Bucket=self._bucket, Key=name, UploadId=upload_id, PartNumber=number, Body=body, ChecksumSHA256=checksum
        )
        return {"ETag": answer["ETag"], "PartNumber": number, "ChecksumSHA256": checksum}


def _base64(raw: bytes) -> str:
    return base64.b64encode(raw).decode()
