from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from farm.adapters.files import open_store
from farm.model import Digest
from farm.ports import StoreAccess
from farm.testing.stores import SharedStoreSuite


class TestFileStore(SharedStoreSuite):
    @pytest.fixture
    def root(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        return tmp_path_factory.mktemp("store") / "made" / "when needed"

    @pytest.fixture
    def opener(self, root: Path):
        return partial(open_store, root.as_uri(), StoreAccess())

    @pytest.fixture
    def store(self, opener):
        return opener()

    @pytest.fixture
    def damage(self, root: Path) -> Callable[[Digest, bytes], None]:
        def damage(digest: Digest, body: bytes) -> None:
            path = root / "blobs" / "sha256" / digest[:2] / digest
            path.unlink()
            path.write_bytes(body)

        return damage
