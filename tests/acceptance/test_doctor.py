"""`farm doctor` is for people: each line a result, a name and words; and for programs, by --json."""

import json

from tests.builders.farm_command import Desk
from tests.services.programs import free_port


def test_the_columns_hold_and_no_line_shows_a_programs_values(desk: Desk) -> None:
    ended = desk.farm("doctor")
    assert ended.code == 0, ended.err
    names = [row["name"] for row in json.loads(desk.farm("doctor", "--json").out)["findings"]]
    assert {"python", "queue", "store", "git", "starts"} <= set(names)
    lines = ended.out.splitlines()
    width = max(len(name) for name in names)
    assert [line[6 : 6 + width].rstrip() for line in lines] == names
    assert {line[:6] for line in lines} == {"ok    "}
    assert {line[6 + width : 8 + width] for line in lines} == {"  "}
    assert [line for line in lines if set(line[6 + width :]) & set("{}[]")] == []


def test_the_password_of_the_queue_is_not_shown(desk: Desk, redis_url: str) -> None:
    place, _, options = redis_url.partition("?")
    secret = f"client_name=hush{options and '&'}{options}"
    ended = desk.farm("doctor", env={"FARM_REDIS_URL": f"{place}?{secret}"})
    (line,) = [line for line in ended.out.splitlines() if line.split()[1] == "queue"]
    assert line.endswith(place)


def test_a_broker_that_is_away_is_told_without_its_password(desk: Desk, redis_url: str) -> None:
    broker = f"amqp://farm:secret@127.0.0.1:{free_port()}//"
    ended = desk.farm("doctor", env={"FARM_REDIS_URL": redis_url, "FARM_BROKER_URL": broker})
    (line,) = [line for line in ended.out.splitlines() if line.split()[:2] == ["FAIL", "broker"]]
    assert (ended.code, "amqp://farm:**@127.0.0.1" in line, "secret" in ended.out + ended.err) == (2, True, False)
