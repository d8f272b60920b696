"""Work roots for sandboxes, searchable by other uids, and runs in a process of its own as this or another user."""

import atexit
import json
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import sandbox
from sandbox.backends.bubblewrap import Bubblewrap
from sandbox.backends.docker import Docker

AN_ORDINARY_USER = 4242
_DROP = ("setpriv", f"--reuid={AN_ORDINARY_USER}", f"--regid={AN_ORDINARY_USER}", "--clear-groups")
_ALONE = Path(__file__).with_name("sandbox_alone.py")


@cache
def work_root() -> Path:
    """Give the run's work root; pytest's own folders are closed to the slots' uids."""
    root = Path(tempfile.mkdtemp(prefix="sandbox-root-"))
    root.chmod(0o711)
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


@cache
def bubblewrap(compiler=None) -> Bubblewrap:
    """Give the run's backend, with the tools of that compiler."""
    return Bubblewrap(work_root() / f"work-{compiler}", compiler)


@cache
def docker(url, image) -> Docker:
    """Give the run's backend on an engine of the tests', as long as that one lives."""
    return Docker(work_root() / "docker", image, url)


def a_backend(request):
    """Give the backend of a fixture's parameter: bubblewrap with our programs or their stand-ins, or docker."""
    match request.param:
        case "docker":
            engine, image = (request.getfixturevalue(name) for name in ("docker_engine", "docker_python_image"))
            return docker(engine.url, image)
        case kind:
            return bubblewrap({"native": None, "python": ""}[kind])


def users():
    """Name whose guests can be tested here: this user's and, when that is root, an ordinary user's as well."""
    return ("root", "ordinary") if os.geteuid() == 0 else ("ordinary",)


def drop_to(user):
    """Give the words before a command that is to run as `user`."""
    return _DROP if user == "ordinary" and os.geteuid() == 0 else ()


def system_python():
    """Give a Python that every user may run, and that a guest finds as well."""
    own = Path(sys.executable).resolve()
    return str(own) if own.is_relative_to("/usr") else "/usr/bin/python3"


@cache
def copy_of_the_package() -> Path:
    """Put the package where every user may read it: the checkout may lie under a closed home."""
    place = work_root() / "package"
    shutil.copytree(Path(sandbox.__file__).parent, place / "sandbox", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(_ALONE, place / "alone.py")
    shutil.copy(_ALONE.with_name("sandbox_spawner.py"), place)
    shutil.copy(Path(sandbox.__file__).parents[1] / "ops/bench/kill_race.py", place)
    return place


@cache
def home_of(user) -> Path:
    """Give `user` a folder of its own."""
    home = work_root() / f"home-{user}"
    home.mkdir()
    if user == "ordinary" and os.geteuid() == 0:
        os.chown(home, AN_ORDINARY_USER, AN_ORDINARY_USER)
    return home


def alone(user, order, **inherited):
    """Run `sandbox_alone` with `order` in a process of `user`; `inherited` is what a careless parent leaves it."""
    order = {"home": str(home_of(user)), **order}
    done = subprocess.run(
        [*drop_to(user), system_python(), "-B", str(copy_of_the_package() / "alone.py")],
        input=json.dumps(order).encode(),
        cwd="/",
        capture_output=True,
        timeout=120,
        check=False,
        **inherited,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)
