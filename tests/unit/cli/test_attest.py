import json
from pathlib import Path

from click.testing import CliRunner, Result

from farm.adapters.files import FileStore
from farm.cli.main import farm
from farm.errors import IntegrityError
from farm.model.keys import seal_key
from tests.builders.sealed import a_sealed_sweep
from tests.builders.signing_keys import key_files


def run(*arguments: object) -> Result:
    return CliRunner().invoke(farm, [str(one) for one in arguments])


def test_a_sealed_sweep_is_signed_and_holds_against_its_key_alone(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store")
    sweep = a_sealed_sweep(store)
    ours, others = key_files(tmp_path, "ours"), key_files(tmp_path, "others")

    signed = run("attest", sweep, "--key", ours.private, "--store", tmp_path / "store", "--json")

    assert signed.exit_code == 0, signed.output
    assert store.records.read(json.loads(signed.stdout)["attestation"]) is not None
    checked = run("verify", sweep, "--key", ours.public, "--store", tmp_path / "store")
    assert (checked.exit_code, "sound" in checked.output) == (0, True)
    refused = run("verify", sweep, "--key", ours.public, "--key", others.public, "--store", tmp_path / "store")
    assert isinstance(refused.exception, IntegrityError)
    assert "no attestation by the key" in str(refused.exception)


def test_a_sweep_that_is_not_sound_is_not_signed(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "store")
    sweep = a_sealed_sweep(store)
    (damaged,) = (tmp_path / "store" / "sweeps").rglob("report.md")
    damaged.chmod(0o600)
    damaged.write_bytes(damaged.read_bytes() + b" ")

    signed = run("attest", sweep, "--key", key_files(tmp_path).private, "--store", tmp_path / "store")

    assert isinstance(signed.exception, IntegrityError)
    assert "it is not signed" in str(signed.exception)
    assert list(store.records.keys(seal_key(sweep).replace("seal.json", "attestations/"))) == []
