"""Where records stand in the store: the layout of section 4 of the architecture, in one file."""

from farm.model.names import CellId, SweepId

SWEEPS = "sweeps/"


def sweep_root(sweep: SweepId) -> str:
    return f"{SWEEPS}{sweep}/"


def plan_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}plan.json"


def open_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}open.json"


def claim_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return f"{sweep_root(sweep)}attempts/{cell}/{attempt}/claim.json"


def outcome_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return f"{sweep_root(sweep)}attempts/{cell}/{attempt}/outcome.json"


def attempt_cleanup_key(sweep: SweepId, cell: CellId, attempt: int) -> str:
    return f"{sweep_root(sweep)}attempts/{cell}/{attempt}/cleanup.json"


def attempts_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}attempts/"


def result_key(sweep: SweepId, cell: CellId) -> str:
    return f"{sweep_root(sweep)}results/{cell}.json"


def results_prefix(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}results/"


def close_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}close.json"


def cancel_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}cancel.json"


def settlement_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}settlement.json"


def cleanup_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}cleanup.json"


def verdict_key(sweep: SweepId, gate: str) -> str:
    return f"{sweep_root(sweep)}verdicts/{gate}.json"


def report_key(sweep: SweepId, file: str) -> str:
    return f"{sweep_root(sweep)}report/{file}"


def seal_key(sweep: SweepId) -> str:
    return f"{sweep_root(sweep)}seal.json"
