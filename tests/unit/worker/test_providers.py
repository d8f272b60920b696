"""Which providers a worker reaches, and where their keys stand."""

from pathlib import Path

import pytest

from farm.errors import SpecError, TransientError
from farm.model import Wire
from worker.providers import Provider, ensure_translated, key_of, read_providers

SECRET = "sk-ant-very-secret"  # noqa: S105 (of nobody)


def _file(folder: Path, text: str) -> Path:
    path = folder / "providers.yaml"
    path.write_text(text)
    return path


def test_well_known_providers_need_no_file_and_a_file_goes_before_them(tmp_path: Path) -> None:
    assert read_providers(None)["anthropic"].url == "https://api.anthropic.com"
    found = read_providers(_file(tmp_path, "anthropic: {wires: [anthropic, chat], url: 'http://127.0.0.1:4010'}\n"))
    assert found["anthropic"] == Provider(wires=(Wire.ANTHROPIC, Wire.CHAT), url="http://127.0.0.1:4010")
    assert found["openai"].key_env == "OPENAI_API_KEY"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: {wires: [smoke], url: 'http://x'}", "a.wires.0"),
        ("a: {wires: [], url: 'http://x'}", "a.wires"),
        ("a: {wires: [chat], url: 'ftp://x'}", "a.url"),
        ("a: {wires: [chat], url: 'https://user:pass@x'}", "a.url"),
        ("a: {wires: [chat], url: 'https://x?key=1'}", "a.url"),
        ("a: {wires: [chat], url: 'https://x', key_env: K, key_file: /k}", "one place"),
        ("a: {wires: [chat], url: 'http://far.example', key_env: K}", "over https://"),
        (f"a: {{wires: [chat], url: 'https://x', key: {SECRET}}}", "a.key"),
        ("a: {wires: [chat], url: 'https://x/v1'}", "leave the last part, 'v1', out"),
        ("a: {wires: [gemini], url: 'https://x/api/v1beta/'}", "leave the last part, 'v1beta', out"),
        ("a: {wires: [anthropic, chat], url: 'https://x', translate: anthropic}", "speaks anthropic itself"),
        ("a: {wires: [gemini], url: 'https://x', translate: anthropic}", "into responses and chat"),
        ("a: {wires: [chat], url: 'https://x', translate: gemini}", "a.translate"),
        ("- 1", "the top"),
        ("a: [", "is not YAML"),
    ],
)
def test_a_wrong_file_is_refused_and_nothing_secret_is_repeated(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=r"FARM_PROVIDERS: .*providers\.yaml") as refused:
        read_providers(_file(tmp_path, text))
    assert words in str(refused.value)
    assert SECRET not in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"FARM_PROVIDERS: .*none\.yaml can't be read"):
        read_providers(tmp_path / "none.yaml")


def test_a_key_comes_from_its_place_and_its_absence_says_where_it_should_be(tmp_path: Path) -> None:
    by_env = Provider(wires=(Wire.CHAT,), url="https://x", key_env="THE_KEY")
    by_file = Provider(wires=(Wire.CHAT,), url="https://x", key_file=tmp_path / "key")
    assert key_of("a", by_env, {"THE_KEY": f" {SECRET}\n"}) == SECRET
    with pytest.raises(TransientError, match="'a': the environment variable THE_KEY holds none"):
        key_of("a", by_env, {})
    with pytest.raises(TransientError, match=r"'a': .*/key can't be read"):
        key_of("a", by_file, {})
    (tmp_path / "key").write_text(f"{SECRET}\n")
    assert key_of("a", by_file, {}) == SECRET
    (tmp_path / "key").write_text("two\nlines")
    with pytest.raises(TransientError, match="holds none"):
        key_of("a", by_file, {})
    assert key_of("a", Provider(wires=(Wire.CHAT,), url="http://x"), {}) == ""


def test_a_provider_that_is_to_be_translated_needs_the_extra_and_the_error_says_how_to_get_it() -> None:
    to_translate = {"a": Provider(wires=(Wire.CHAT,), url="https://x", translate=Wire.ANTHROPIC)}
    ensure_translated(to_translate, has_translator=True)
    ensure_translated({"a": Provider(wires=(Wire.CHAT,), url="https://x")}, has_translator=False)
    with pytest.raises(SpecError, match=r"a\.translate needs LiteLLM; pip install 'cellfarm\[litellm\]'"):
        ensure_translated(to_translate, has_translator=False)
