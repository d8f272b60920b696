"""The shape of the verdict's findings, for whoever writes them and whoever shows them."""

from farm.gates.reliability.ruling import Authorship, Ruling
from farm.gates.reliability.trial import Part
from farm.model import Terminal
from farm.model.base import Value


class RateTold(Value):
    """So many of so many, with Wilson's interval of 95 %."""

    count: int
    of: int
    share: float
    low: float
    high: float


class ClaimsTold(Value):
    """Runs by what they claimed and what the oracle says."""

    claimed_passed: int
    claimed_failed: int
    silent_passed: int
    silent_failed: int
    """Rightly so."""


class EndTold(Value):
    """Runs with a contract that their governor ended in one way."""

    oracle_passed: int
    oracle_failed: int


class OperationTold(Value):
    """What went wrong in running, or was never begun; a run may count in several."""

    no_contract: int
    unresolved: int
    """A contract was opened, and nothing ended it."""
    timed_out: int
    nonzero_exit: int
    """The agent did not end by itself with code 0."""
    session_missing: int


class MeansTold(Value):
    """Averages over the runs that say the number; None: none does."""

    duration_s: float | None
    turns: float | None
    input_tokens: float | None
    output_tokens: float | None
    tool_calls: float | None
    cost_usd: float | None


class PartTold(Value):
    """One arm: all of its measured runs are in, whether or not they opened a contract."""

    arm: str
    runs: int
    oracle_passed: RateTold
    false_success: RateTold
    false_certifications: int
    false_exhaustion: RateTold
    """This and the next: of the runs that the oracle passes."""
    false_abstention: RateTold
    terminal_false_rejection: RateTold
    false_rejection: RateTold
    adopted_false_exhaustion: RateTold
    """This and the next: of those, the runs that opened a contract."""
    adopted_false_abstention: RateTold
    adopted_false_rejection: RateTold
    adoption: RateTold
    fidelity: RateTold
    receipts: RateTold
    """Runs that left the receipt of an attempt."""
    right: RateTold
    stable_tasks: RateTold
    """Tasks of which every run is right."""
    mixed_tasks: int
    """Tasks whose runs differ in what they claim or in what the oracle says."""
    operational_failures: int
    operation: OperationTold
    claims: ClaimsTold
    ends: dict[Terminal, EndTold]
    means: MeansTold


class EffectTold(Value):
    """A mean difference over tasks, with its bootstrap interval of 95 %."""

    estimate: float
    low: float
    high: float


class SignFlipTold(Value):
    """Of the benefit."""

    tasks: int
    nonzero: int
    p_value: float


class McNemarTold(Value):
    """False successes, run by run. It decides nothing."""

    baseline_only: int
    model_only: int
    p_value: float


class EffectsTold(Value):
    """What was compared, left minus right; None: no task is in both arms."""

    benefit: EffectTold | None
    success: EffectTold | None
    rejection_penalty: EffectTold | None
    terminal_rejection_penalty: EffectTold | None
    sign_flip: SignFlipTold
    mcnemar: McNemarTold


class PairsTold(Value):
    """A governed arm's runs beside the baseline's of the same task and trial, by the oracle. It shows no cause."""

    both_passed: int
    rescue_candidates: int
    """Only the governed one is right."""
    regression_candidates: int
    """Only the baseline's is."""
    both_failed: int


class TaskTold(Value):
    """One task's runs in one arm."""

    runs: int
    oracle_passed: int
    claimed: int
    false_success: int
    right: int
    is_consistent: bool
    """Every run claims the same, and the oracle says the same of each."""


class KindTold(Value):
    """One kind of check over all attempts of an arm; every check that fails is credited, and none is the cause."""

    exposures: int
    failures: int
    failure_rate: float
    unique_failures: int
    exposed_runs: int
    failed_runs: int
    false_exhaustions: int
    share_of_false_exhaustions: float
    false_abstentions: int
    share_of_false_abstentions: float
    terminal_false_rejections: int
    share_of_terminal_false_rejections: float


class RepairsTold(Value):
    """Changes of the oracle's word between attempts that were seen live."""

    live: int
    eligible: int
    rescues: int
    regressions: int
    broken_after_certification: int


class RunTold(Value):
    """A run that a person must look at."""

    cell: str
    part: Part
    terminal: Terminal
    oracle_passed: bool
    claims_success: bool
    attempts: int
    failed_checks: tuple[str, ...]
    """Of the last attempt."""
    receipt: str | None
    """Of the last attempt."""


class Listed(Value):
    """Runs of one kind: the count is of all, the list is cut."""

    count: int
    runs: tuple[RunTold, ...]


class Findings(Value):
    """All that the verdict tells beside its checks."""

    ruling: Ruling
    authorship: Authorship
    parts: dict[Part, PartTold]
    effects: EffectsTold
    relative_reduction: float
    weighted_false_rejection_cost: float
    """Shown, and decides nothing."""
    exhaustion_weight: float
    abstention_weight: float
    pairs: dict[Part, PairsTold]
    by_task: dict[str, dict[Part, TaskTold]]
    check_attribution: dict[Part, dict[str, KindTold]]
    repairs: dict[Part, RepairsTold]
    false_certifications: Listed
    false_rejections: Listed
    contradictions: Listed
    """They claim success though their governor ended them as exhausted."""
    successes_to_look_at: tuple[str, ...]
    """Right runs, drawn by the policy's seed."""
    missing: tuple[str, ...]
    """Planned runs without evidence."""
    review: str = "off"
    """No contract is read by a person before its run."""
