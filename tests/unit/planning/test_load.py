from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import ArmRole
from farm.planning.load import read_spec

GOOD = """\
name: demo
tasks:
  - id: bug
    repository: {path: repo}
    prompt: Fix it.
    oracle: {kind: command, argv: ["true"], on: 12:30}
arms:
  - name: baseline
    role: incumbent
    agent: {kind: scripted}
"""


def written(folder: Path, text: str | bytes) -> Path:
    file = folder / "sweep.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def complaint(file: Path) -> str:
    with pytest.raises(SpecError) as caught:
        read_spec(file)
    return str(caught.value).replace(str(file), "sweep.yaml")


def test_a_good_file_becomes_a_spec(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, GOOD)).spec
    assert spec.name == "demo"
    assert spec.arms[0].role is ArmRole.INCUMBENT


def test_scalars_follow_yaml_1_2_so_that_on_and_times_stay_text(tmp_path: Path) -> None:
    spec = read_spec(written(tmp_path, GOOD)).spec
    assert spec.tasks[0].oracle.options == {"argv": ["true"], "on": "12:30"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e3", 1000.0),
        ("007", 7),
        ("0x10", 16),
        ("0o17", 15),
        ("yes", "yes"),
        ("2024-01-01", "2024-01-01"),
        ("~", None),
        ("", None),
        ("True", True),
        ("!!str 1", "1"),
        ("'1'", "1"),
        ("1_000", "1_000"),
    ],
)
def test_a_plain_scalar_is_what_json_can_say(tmp_path: Path, text: str, value: object) -> None:
    spec = read_spec(written(tmp_path, GOOD.replace("12:30", text))).spec
    assert spec.tasks[0].oracle.options["on"] == value


def test_an_unknown_field_names_file_line_path_and_the_nearest_name(tmp_path: Path) -> None:
    said = complaint(written(tmp_path, GOOD.replace("role: incumbent", "rol: incumbent")))
    assert said.splitlines() == [
        "sweep.yaml:8: arms[0].role: this field is missing; add it",
        "sweep.yaml:9: arms[0].rol: unknown field 'rol'; did you mean 'role'? "  # noqa: ISC004 (one long line)
        "known are: agent, assets, control, incumbent, labels, name, overlay, plugins, program, provider, role",
    ]


def test_an_unknown_field_of_a_nested_model_is_compared_with_that_models_names(tmp_path: Path) -> None:
    said = complaint(written(tmp_path, GOOD + "dispatch:\n  per_slots: 3\n"))
    assert said == (
        "sweep.yaml:12: dispatch.per_slots: unknown field 'per_slots'; did you mean 'per_slot'? "
        "known are: ahead, most_by_provider, most_outstanding, per_slot, priority, weight"
    )


def test_an_unknown_enum_value_names_the_nearest(tmp_path: Path) -> None:
    said = complaint(written(tmp_path, GOOD.replace("role: incumbent", "role: incumbant")))
    assert said == (
        "sweep.yaml:9: arms[0].role: unknown value 'incumbant'; did you mean 'incumbent'? "
        "known are: incumbent, candidate, comparator, control"
    )


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: demo", "name: Demo", "sweep.yaml:1: name: 'Demo' is not a name: use lower-case letters"),
        ("path: repo", "path: 12", "sweep.yaml:4: tasks[0].repository.path: should be text, not 12; quote it"),
        ("name: demo", "name: demo\ntrials: 0", "sweep.yaml:2: trials: should be greater than or equal to 1, not 0"),
        ("name: demo", "name: demo\ntrials: many", "sweep.yaml:2: trials: should be a valid integer"),
        ("name: demo", "name: demo\nname: twice", "sweep.yaml:2: name: the key 'name' stands twice (first in line 1)"),
        (
            "{path: repo}",
            "{path: repo}\n    image: debian:12",
            "sweep.yaml:5: tasks[0].image: 'debian:12' is not named by digest, and a tag moves; write name@sha256:… as",
        ),
        ("{path: repo}", "{path: repo, url: x}", "sweep.yaml:4: tasks[0].repository: a repository needs exactly one"),
        ("12:30", ".nan", "tasks[0].oracle.on: '.nan' is not a finite number; quote it if it is text"),
        ("12:30", "-.inf", "'-.inf' is not a finite number"),
        ("12:30", "1e999", "'1e999' is not a finite number"),
        ("12:30", "9" * 5000, "a number of 5000 digits is too long"),
        ("12:30", "!!python/name:os.system x", "the tag 'python/name:os.system' is not allowed"),
        ("12:30", "{[1]: 2}", "a key must be plain text"),
        ("{path: repo}", "&a {path: *a}", "an anchor holds itself"),
    ],
)
def test_a_bad_value_names_its_line_and_field(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert said in complaint(written(tmp_path, GOOD.replace(old, new)))


def test_all_mistakes_are_told_in_the_files_order_and_the_sixth_is_counted(tmp_path: Path) -> None:
    lines = complaint(written(tmp_path, "".join(f"x{n}: 1\n" for n in range(5)))).splitlines()
    assert [line.split(":")[1] for line in lines[:5]] == ["1", "1", "2", "3", "4"]
    assert lines[5] == "… and 1 more"


def test_a_bound_that_is_no_number_is_one_complaint(tmp_path: Path) -> None:
    text = GOOD + "metrics: [{name: n, source: oracle, key: k, minimum: low}]\n"
    assert complaint(written(tmp_path, text)).count("\n") == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "sweep.yaml: the file is empty"),
        ("# only a remark\n", "sweep.yaml: the file is empty"),
        ("- a\n- b\n", "sweep.yaml:1: the top of a sweep file is fields such as `name:`, not a list"),
        ("just words", "not a text"),
        ("12", "not a single value"),
        ("name: [1\n", "is not valid YAML"),
        ("name: demo\ntasks:\n\t- id: a\n", "sweep.yaml:3: is not valid YAML"),
        ("a: 1\n---\nb: 2\n", "is not valid YAML"),
        (b"name: \xff\n", "sweep.yaml: is not UTF-8 text (byte 6); save it as UTF-8"),
        ("a: *nowhere\n", "sweep.yaml:1: is not valid YAML: found undefined alias"),
        ("name: \x07\n", "is not valid YAML"),
    ],
)
def test_what_is_no_sweep_file_is_told_clearly(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert said in complaint(written(tmp_path, text))


def test_a_tab_gets_its_own_advice(tmp_path: Path) -> None:
    assert "indent with spaces" in complaint(written(tmp_path, "name: demo\ntasks:\n\t- id: a\n"))


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    assert complaint(tmp_path / "none.yaml").endswith("check the path, or write one with `farm init`")


def test_a_folder_is_told(tmp_path: Path) -> None:
    assert "is a folder; name the sweep file in it" in complaint(tmp_path)


def test_a_huge_file_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    said = complaint(written(tmp_path, "name: " + "x" * (17 << 20)))
    assert "a sweep file of 17825798 bytes is above 16777216" in said


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    assert complaint(written(tmp_path, "[" * 5_000))


def test_anchors_that_explode_are_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "more than 200000 values" in complaint(written(tmp_path, "\n".join(lines)))


def test_anchors_and_merges_write_less(tmp_path: Path) -> None:
    text = GOOD.replace("agent: {kind: scripted}", "agent: &robot {kind: scripted, speed: 1}") + (
        "  - {name: fresh, role: candidate, agent: {<<: *robot, speed: 2}}\n"
        "  - {name: plain, role: control, agent: *robot}\n"
    )
    spec = read_spec(written(tmp_path, text)).spec
    assert [arm.agent.options for arm in spec.arms] == [{"speed": 1}, {"speed": 2}, {"speed": 1}]


def test_a_mark_at_the_front_of_the_file_is_no_content(tmp_path: Path) -> None:
    assert read_spec(written(tmp_path, "\ufeff" + GOOD)).spec.name == "demo"
