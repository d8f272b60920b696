from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends.docker.container import Image, Place, container
from sandbox.spec import Bind, Door
from sandbox.testing import LIMITS, script

PLACE = Place(Image("sha256:1", {"PATH": "/opt/bin", "ONLY": "image"}), Path("/srv/bin/init"), {"label": "value"})
SPEC = replace(script("true", Bind(Path("/host/out"), "/cell/out", writable=True)), slot=3, stdin=b"secret")


def _body(spec=SPEC):
    return container(spec, PLACE, (7, 8))


def test_nothing_of_the_hosts_powers_or_network_is_asked_for():
    host = _body()["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert host["SecurityOpt"] == ["no-new-privileges"]
    assert not {"Privileged", "CapAdd", "Devices", "Binds", "PidMode", "UsernsMode", "PublishAllPorts"} & set(host)


def test_limits_are_the_specs_and_there_is_no_swap():
    host = _body()["HostConfig"]
    assert host["PidsLimit"] == LIMITS.processes + 1
    assert host["Memory"] == host["MemorySwap"] == LIMITS.memory_bytes
    assert f"size={LIMITS.tmp_bytes}" in host["Tmpfs"]["/tmp"].split(",")  # noqa: S108 (a name inside)


def test_processors_are_bounded_only_where_the_spec_says_so():
    assert _body()["HostConfig"]["NanoCpus"] == 0
    half = replace(SPEC, limits=replace(LIMITS, cpus=0.5))
    assert _body(half)["HostConfig"]["NanoCpus"] == 500_000_000


def test_the_guest_runs_as_the_owner_behind_our_init():
    body = _body()
    assert body["User"] == "7:8"
    assert body["Entrypoint"][:5] == ["/.init", "/", str(LIMITS.file_size_bytes), str(LIMITS.open_files), "0"]
    assert body["Entrypoint"][5:] == list(SPEC.argv)


def test_a_bind_is_writable_only_where_the_spec_says_so():
    mounts = {mount["Target"]: mount["ReadOnly"] for mount in _body()["HostConfig"]["Mounts"]}
    assert mounts == {"/.init": True, "/cell/out": False}


def test_a_door_is_a_read_only_bind_and_a_port_and_takes_no_process_from_the_guest():
    body = _body(replace(SPEC, door=Door(Path("/host/door"), 9321)))
    mounts = {mount["Target"]: (mount["Source"], mount["ReadOnly"]) for mount in body["HostConfig"]["Mounts"]}
    assert mounts["/run/model.sock"] == ("/host/door", True)
    assert body["Entrypoint"][4] == "9321"
    assert body["HostConfig"]["PidsLimit"] == LIMITS.processes + 2


@pytest.mark.parametrize(("target", "is_made"), [("/cell/out", True), ("/home/agent", False), ("/home", False)])
def test_a_home_is_made_unless_a_bind_covers_it(target, is_made):
    tmpfs = _body(script("", Bind(Path("/host/out"), target)))["HostConfig"]["Tmpfs"]
    assert ("/home/agent" in tmpfs) is is_made


def test_the_environment_is_the_specs_over_the_images_over_ours():
    env = dict(pair.split("=", 1) for pair in _body(replace(SPEC, env={"ONLY": "spec"}))["Env"])
    assert (env["PATH"], env["ONLY"], env["HOME"], env["USER"]) == ("/opt/bin", "spec", "/home/agent", "agent")


def test_what_the_command_reads_is_in_no_word_that_the_engine_keeps():
    assert "secret" not in repr(_body())
