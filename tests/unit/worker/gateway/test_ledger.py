"""What a session's door writes down."""

import json
from datetime import UTC, datetime

from farm.model import RequestEnd
from farm.redaction import Redactor
from worker.gateway.exchange import Exchange
from worker.gateway.ledger import Ledger
from worker.gateway.purse import Purse
from worker.gateway.values import Pass, Upstream

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TOKEN = "sk-ant-api03-" + "a1B2" * 10


def test_what_is_told_of_a_failure_is_cut_without_leaving_a_part_of_a_secret() -> None:
    for before in range(150, 310):
        ledger = Ledger(Pass(Upstream("p", frozenset(), "http://x", ""), (), Purse(None, None)), 1 << 20)
        words = f"{'x' * before} {TOKEN} more"
        ledger.enter(
            Exchange("POST", f"/{'x' * before}/{TOKEN}", NOW, status=400, was_sent=True, detail=words),
            RequestEnd.REJECTED,
            NOW,
        )
        logged = json.loads(ledger.log())
        for text in (ledger.report().last_failure_detail, logged["detail"], logged["path"]):
            assert "a1B2" not in Redactor().text(text or "")
