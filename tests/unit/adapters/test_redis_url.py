"""What is shown of a Redis URL, and what is refused."""

import pytest

from farm.adapters import redis
from farm.errors import SpecError


@pytest.mark.parametrize(
    "url",
    [
        "redis://:hu/sh@host:6379/0",
        "redis://:hu?sh@host:6379/0",
        "redis://:hu#sh@host:6379/0",
        "redis://user:hu@sh@host:port/0",
        "http://:hush@host:6379/0",
    ],
)
def test_a_url_that_is_not_one_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(SpecError) as refusal:
        redis.connect(url)
    assert "hu" not in str(refusal.value)
    assert "host" in str(refusal.value)


def test_options_of_a_url_are_not_shown() -> None:
    for password in ("hush", "h@sh", "%40hush@sh"):
        with pytest.raises(SpecError) as refusal:
            redis.connect(f"redis://host:port/0?password={password}")
        assert "sh" not in str(refusal.value)
