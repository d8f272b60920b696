"""The drill for disks: a guest whose bind lies elsewhere than on its disk fails it, in bubblewrap as in docker."""

import os
import secrets
import shutil
from dataclasses import replace

import pytest

from sandbox.backends.disk_drill import disk
from tests.builders.disks import some_disks
from tests.builders.sandbox_rooms import a_backend, work_root


class Elsewhere:
    """A backend that puts its guests' binds where there is room."""

    def __init__(self, inner, place):
        self._inner, self._place = inner, place

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def run(self, spec, sink, stop):
        binds = tuple(replace(bind, source=self._place) for bind in spec.binds)
        return self._inner.run(replace(spec, binds=binds), sink, stop)


@pytest.fixture(params=["native", "docker"])
def backend(request):
    return a_backend(request)


@pytest.fixture
def folder():
    with some_disks():
        place = work_root() / f"disk-{secrets.token_hex(4)}"
        place.mkdir(mode=0o711)
        yield place
        shutil.rmtree(place)


def test_a_disk_holds_who_is_on_it_and_who_is_elsewhere_fails(backend, folder):
    out = folder / "out"
    out.mkdir()
    os.chown(out, *backend.owner(0))
    assert disk(backend, folder, out).detail == "4 MiB and 64 inodes held by ext4 on a loop device"
    fails = disk(Elsewhere(backend, out), folder, out)
    assert (fails.ok, fails.detail.split(": ")[1]) == (False, "saw done done; without it done done")
