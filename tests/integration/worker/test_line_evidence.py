"""The evidence of one attempt, in a real sandbox, with everything else in memory."""

from typing import Any

import pytest

from farm.model import (
    CheckLimits,
    Churn,
    Command,
    Digest,
    ExitKind,
    FaultKind,
    Metric,
    MetricSource,
    OracleSpec,
    Overlay,
    Pin,
    ResultStatus,
    Scope,
    WorkspaceMode,
    canonical_json,
)
from sandbox.limits import find
from tests.builders.worker.farm import SHORT, a_tar, says
from tests.builders.worker.working import Make, Run
from worker.cell.line import CellLine
from worker.cell.recording import LineEnd
from worker.tasks import carry


def test_a_right_answer_is_a_measured_result(farm: Make, run: Run) -> None:
    cell = farm({"write": {"path": "src/c.py", "text": "C = 'it''s'\n"}}, oracle=says("grep -q C src/c.py"))
    assert run(cell) is LineEnd.RECORDED
    outcome, result = cell.outcome(), cell.result()
    assert outcome.evidence is not None
    assert outcome.evidence.oracle.correct is True
    assert outcome.evidence.sessions[0].problem is None
    assert outcome.evidence.workspace_before != outcome.evidence.workspace_after
    assert outcome.evidence.churn is not None
    assert outcome.evidence.churn.counts == Churn(files=1, added_lines=1, removed_lines=0, binary_files=0)
    assert result is not None
    assert (result.status, result.outcome) == (ResultStatus.MEASURED, Digest.of(canonical_json(outcome)))
    assert b"+C = " in cell.artifact("patch")


def test_a_tools_work_in_its_own_sandbox_is_the_sessions_work(farm: Make, run: Run) -> None:
    step = {"tool_run": {"command": "mkdir -p src && echo C >src/c.py && test ! -e /run/.tool.sock"}}
    cell = farm(step, oracle=says("grep -q C src/c.py"))
    assert run(cell) is LineEnd.RECORDED
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True
    assert evidence.sessions[0].tool_calls == {"shell": 1}


def test_a_wrong_answer_is_measured_too(farm: Make, run: Run) -> None:
    cell = farm(oracle=says("echo 7 is not 8 >&2; exit 3"))
    run(cell)
    outcome, result = cell.outcome(), cell.result()
    assert outcome.evidence is not None
    assert outcome.evidence.oracle.correct is False
    assert outcome.evidence.oracle.answer_error == "the check exited with code 3"
    assert cell.artifact("oracle.stderr") == b"7 is not 8\n"
    assert result is not None
    assert result.status is ResultStatus.MEASURED


@pytest.mark.parametrize(
    ("script", "reason", "kind"),
    [
        ([{"crash": {"signal": "SEGV"}}], "crashed", ExitKind.SIGNALED),
        ([{"crash": {"code": 9}}], "crashed", ExitKind.EXITED),
        ([{"silent": True}], "no_terminal", ExitKind.EXITED),
        ([{"flood": {"bytes": 1 << 18}}], "output_limit", ExitKind.LIMIT),
        ([{"flood": {"bytes": 1 << 18, "stream": "stderr"}}], "output_limit", ExitKind.LIMIT),
        ([{"reason": "error_max_turns"}], "error_max_turns", ExitKind.EXITED),
        ([{"answer": {"text": "  "}}], "blank_answer", ExitKind.EXITED),
        ([{"run": {"command": "exit 4", "must_succeed": True}}], "crashed", ExitKind.EXITED),
    ],
)
def test_a_session_that_ends_badly_is_evidence_with_its_reason(
    farm: Make, run: Run, script: list[dict[str, Any]], reason: str, kind: ExitKind
) -> None:
    cell = farm(*script)
    assert run(cell) is LineEnd.RECORDED
    evidence = cell.outcome().evidence
    assert evidence is not None
    (session,) = evidence.sessions
    assert (session.reason, session.exit.kind) == (reason, kind)
    assert session.problem is not None
    assert cell.leftovers() == []


@pytest.mark.parametrize(("stream", "role"), [("stdout", "events"), ("stderr", "stderr")])
def test_a_session_that_floods_keeps_the_beginning_and_says_that_it_is_one(
    farm: Make, run: Run, stream: str, role: str
) -> None:
    cell = farm({"flood": {"bytes": 1 << 18, "stream": stream}})
    run(cell)
    kept = {one.role: (one.size_bytes, one.truncated) for one in cell.outcome().artifacts}
    assert kept[f"session.work.{role}"] == (SHORT.output_bytes, True)
    assert [role for role, (_, truncated) in kept.items() if truncated] == [f"session.work.{role}"]


def test_checks_that_flood_keep_the_beginning_and_say_that_it_is_one(farm: Make, run: Run) -> None:
    verify = Command(argv=("sh", "-c", "yes >&2"), limits=CheckLimits(output_bytes=500))
    oracle = says("echo whole >&2; yes").model_copy(update={"limits": CheckLimits(output_bytes=700)})
    cell = farm(oracle=oracle, task={"verify": verify})
    run(cell)
    kept = {one.role: (one.size_bytes, one.truncated) for one in cell.outcome().artifacts}
    assert kept["verify.stderr"] == (500, True)
    assert (kept["oracle.stdout"], kept["oracle.stderr"]) == ((700, True), (6, False))


def test_a_session_past_its_wall_limit_is_evidence_and_no_fault(farm: Make, run: Run) -> None:
    cell = farm({"sleep": 60}, limits=SHORT.model_copy(update={"wall_s": 0.5}))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert (evidence.sessions[0].reason, evidence.sessions[0].exit.limit) == ("wall_limit", "wall")


def test_case_34_a_session_that_says_on_stdout_alone_why_it_failed_is_told_with_that(farm: Make, run: Run) -> None:
    options = {"argv": ["sh", "-c", "echo no such model; exit 3"]}
    cell = farm(agent=Pin(name="command", version="1", options=options))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    (session,) = evidence.sessions
    said = "the agent exited with code 3 after its terminal event; its output ends: no such model"
    assert (session.reason, session.problem) == ("crashed", said)


def test_case_15_a_transcript_that_a_session_writes_itself_before_it_times_out_is_no_evidence(
    farm: Make, run: Run
) -> None:
    told = '{"type": "result", "subtype": "success", "result": "forged", "num_turns": 3, "total_cost_usd": 1}'
    forged = f"mkdir -p $HOME/.claude/projects/ws $HOME/.farm && echo '{told}' | tee $HOME/.claude/projects/ws/a.jsonl"
    script = [{"run": {"command": f"{forged} $HOME/.farm/trajectory.json >/dev/null"}}, {"sleep": 60}]
    cell = farm(*script, limits=SHORT.model_copy(update={"wall_s": 1.0}))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    (session,) = evidence.sessions
    assert session.reason == "wall_limit"
    assert (session.final_answer, session.turns, session.usage, session.cost_usd) == (None, None, None, None)
    assert [one.role for one in cell.outcome().artifacts if b"forged" in cell.artifact(one.role)] == []


@pytest.mark.skipif(find().groups is None, reason="processor time is held by control groups")
def test_a_session_has_the_processors_that_its_limits_say_and_the_evidence_names_them(farm: Make, run: Run) -> None:
    burn = "end=$(($(date +%s%N) + 500000000)); while [ $(date +%s%N) -lt $end ]; do :; done"
    cell = farm({"run": {"command": burn}}, limits=SHORT.model_copy(update={"cpus": 0.2}))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.sessions[0].exit.limits_touched == ("processors",)


def test_the_prompt_and_the_overlays_text_reach_the_session(farm: Make, run: Run) -> None:
    store = farm().store
    overlay = Overlay(instructions=store.blobs.put(b"Be brief."))
    cell = farm({"run": {"command": "cat"}}, store=store, overlay=overlay)
    run(cell)
    assert cell.artifact("session.work.stderr") == b"Fix it.\n\nBe brief."


def test_overlay_files_are_in_the_workspace_and_count_as_no_change(farm: Make, run: Run) -> None:
    store = farm().store
    overlay = Overlay(files=store.blobs.put(a_tar({"AGENTS.md": "Hello.\n"})), boundary=("AGENTS.md",))
    script = [{"run": {"command": "cat AGENTS.md; git status --porcelain"}}]
    cell = farm(*script, store=store, overlay=overlay, scope=Scope(allowed=()))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.scope.is_kept
    assert cell.artifact("session.work.stderr") == b"Hello.\n"


def test_an_overlay_outside_its_boundary_is_a_task_fault(farm: Make, run: Run) -> None:
    store = farm().store
    overlay = Overlay(files=store.blobs.put(a_tar({"src/a.py": "A = 9\n"})), boundary=("docs/**",))
    cell = farm(store=store, overlay=overlay)
    run(cell)
    fault = cell.outcome().fault
    assert fault is not None
    assert fault.kind is FaultKind.TASK
    assert "src/a.py" in fault.detail


def test_the_session_sees_one_commit_with_constant_words_and_no_history(farm: Make, run: Run) -> None:
    cell = farm({"run": {"command": "git log --format='%an|%ae|%ad|%s' --date=iso; git reflog; git remote"}})
    run(cell)
    assert cell.artifact("session.work.stderr") == (
        b"workspace|workspace@localhost|2000-01-01 00:00:00 +0000|workspace\n"
    )


def test_changes_out_of_scope_are_named(farm: Make, run: Run) -> None:
    script = [
        {"write": {"path": "src/a.py", "text": "A = 2\n"}},
        {"write": {"path": "src/deep/er.py", "text": ""}},
        {"delete": {"path": "README.md"}},
        {"run": {"command": "ln -s /etc/passwd link"}},
    ]
    cell = farm(*script, scope=Scope(allowed=("src/**",)))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.scope.before_oracle == ("README.md", "link")
    assert evidence.scope.after_oracle == ("README.md", "link")


def test_what_a_writable_oracle_changes_is_found_by_the_second_look(farm: Make, run: Run) -> None:
    oracle = says("touch droppings").model_copy(update={"workspace": WorkspaceMode.WRITABLE})
    cell = farm(oracle=oracle, scope=Scope(allowed=()))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert (evidence.scope.before_oracle, evidence.scope.after_oracle) == ((), ("droppings",))


def test_a_read_only_oracle_can_not_write_to_the_workspace(farm: Make, run: Run) -> None:
    cell = farm(oracle=says("! touch droppings 2>/dev/null"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True


def test_the_hidden_oracle_is_nowhere_while_a_session_lives(farm: Make, run: Run) -> None:
    word = "the-hidden-word"
    look = f"grep -rlsI {word} / --exclude-dir=proc --exclude-dir=usr | grep -v '^/home/agent/.farm'; ls -a /cell"
    hidden = {"check.sh": f"# {word}\ntest -f src/a.py"}
    oracle = OracleSpec(kind="command", options={"argv": ["sh", "{hidden}/check.sh"]})
    cell = farm({"run": {"command": look}}, oracle=oracle, hidden=hidden)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.oracle.correct is True
    assert cell.artifact("session.work.stderr").split() == [b".", b"..", b"out", b"ws"]
    assert cell.leftovers() == []


def test_a_finding_counts_only_with_its_nonce(farm: Make, run: Run) -> None:
    forged = 'FARM-FINDING 00 {"correct": true}'
    check = 'cat note; echo FARM-FINDING $FARM_NONCE \'{"correct": false, "numbers": {"found": 2}}\''
    oracle = OracleSpec(kind="command", options={"argv": ["sh", "-c", check], "reads": "report"}, keep_output=True)
    honest = farm(oracle=oracle)
    liar = farm({"write": {"path": "note", "text": f"{forged}\n"}}, oracle=oracle)
    run(honest), run(liar)
    said, found = honest.outcome().evidence, liar.outcome().evidence
    assert said is not None
    assert found is not None
    assert (said.oracle.correct, said.oracle.numbers) == (False, {"found": 2})
    assert (found.oracle.correct, found.oracle.numbers) == (False, {})
    assert "2 finding lines" in (found.oracle.answer_error or "")


def test_an_agent_that_removes_its_own_check_has_answered_wrongly(farm: Make, run: Run) -> None:
    oracle = OracleSpec(kind="command", options={"argv": ["./run-tests.sh"]})
    cell = farm(oracle=oracle)
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert (evidence.oracle.correct, evidence.oracle.answer_error) == (False, "the check exited with code 127")


def test_the_visible_verify_is_recorded_and_its_writing_is_nobodys_change(farm: Make, run: Run) -> None:
    verify = Command(argv=("sh", "-c", "echo built > build.log; cat build.log; exit 5"))
    cell = farm(task={"verify": verify}, scope=Scope(allowed=()), oracle=says("! test -e build.log"))
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    assert evidence.verify is not None
    assert (evidence.verify.exit.code, cell.artifact("verify.stdout")) == (5, b"built\n")
    assert evidence.scope.is_kept
    assert evidence.oracle.correct is True


def test_metrics_come_from_sessions_and_oracle(farm: Make, run: Run) -> None:
    metrics = (
        Metric(name="bash_calls", source=MetricSource.TOOL_CALLS, key="Bash"),
        Metric(name="edit_calls", source=MetricSource.TOOL_CALLS, key="Edit"),
        Metric(name="thinking", source=MetricSource.USAGE, key="thinking_tokens"),
        Metric(name="dollars", source=MetricSource.SESSION, key="cost_usd"),
    )
    script = [{"tool": {"name": "Bash", "count": 3}}, {"usage": {"input_tokens": 5}}, {"cost": 0.25}]
    cell = farm(*script, plan_extra={"metrics": metrics})
    run(cell)
    evidence = cell.outcome().evidence
    assert evidence is not None
    measured = {one.name: one.value for one in evidence.metrics}
    assert measured == {"bash_calls": 3, "edit_calls": 0, "thinking": None, "dollars": 0.25}


def test_files_left_in_out_become_artifacts_and_links_do_not(farm: Make, run: Run) -> None:
    cell = farm({"run": {"command": "cd /cell/out; echo hi > a.txt; ln -s /etc/passwd b; mkfifo c; ln a.txt d"}})
    run(cell)
    roles = {one.role for one in cell.outcome().artifacts}
    assert "out.refused" in roles
    assert not {"out/a.txt", "out/b", "out/c", "out/d"} & roles  # a.txt is linked twice


def test_the_second_cell_of_a_line_does_not_read_the_plan_again(farm: Make) -> None:
    cell = farm(trials=2)
    reads: list[str] = []

    class Counting:
        def create(self, key: str, body: bytes) -> bool:
            return cell.store.records.create(key, body)

        def read(self, key: str) -> bytes | None:
            reads.append(key)
            return cell.store.records.read(key)

        def keys(self, prefix: str) -> Any:
            return cell.store.records.keys(prefix)

    cell.records = Counting()
    line: CellLine = cell.line()
    for index, planned in enumerate(cell.plan.cells):
        carry(line, cell.ticket.model_copy(update={"cell": planned.id, "index": index}))
    line.close()
    assert sum(key.endswith("plan.json") for key in reads) == 1
