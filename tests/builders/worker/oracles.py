"""A place where an oracle is asked, with a check that ends as told."""

from collections.abc import Mapping
from pathlib import Path

from farm.model import Digest, ExitKind, OracleSpec, ProcessExit, SessionReport, Snapshot, Task
from worker.session import ArtifactError, ArtifactProblem, CheckResult, Kit, OracleRequest

DIGEST = Digest.of(b"")
DONE = ProcessExit(kind=ExitKind.EXITED, code=0, wall_s=1.0)
NONCE = "abc123"
TASK = Task(
    id="fix",
    snapshot=Snapshot(commit="0" * 40, tree=DIGEST, size_bytes=0),
    prompt=DIGEST,
    oracle=OracleSpec(kind="answer"),
)


class Room:
    """A place where a check runs as told and artifacts are kept."""

    def __init__(
        self, result: CheckResult | None = None, answer: str | None = "x", *, keep_output: bool = False
    ) -> None:
        self.keep_output = keep_output
        self.result = result
        self.answer = answer
        self.asked: list[tuple[tuple[str, ...], Mapping[str, str]]] = []
        self.lent: list[Kit] = []
        self.artifacts: dict[str, bytes | ArtifactProblem] = {}

    def check(self, argv: tuple[str, ...], env: Mapping[str, str]) -> CheckResult:
        self.asked.append((argv, env))
        assert self.result is not None
        return self.result

    def lend(self, kit: Kit) -> str:
        self.lent.append(kit)
        return "/cell/kit"

    def artifact(self, role: str) -> bytes:
        found = self.artifacts.get(role, ArtifactProblem.NEVER_WRITTEN)
        if isinstance(found, ArtifactProblem):
            raise ArtifactError(role, found)
        return found

    def request(self) -> OracleRequest:
        session = SessionReport(name="work", exit=DONE, reason="success", final_answer=self.answer)
        return OracleRequest(
            task=TASK.model_copy(update={"oracle": TASK.oracle.model_copy(update={"keep_output": self.keep_output})}),
            sessions=(session,),
            workspace=Path("/nowhere"),
            hidden="/cell/.o-1",
            nonce=NONCE,
            check=self.check,
            lend=self.lend,
            artifact=self.artifact,
            numbers=frozenset({"behaviours"}),
        )
