"""What a spec may not ask for."""

from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.backends.refusals import refuse_unsafe
from sandbox.errors import SandboxRefusedError
from sandbox.spec import Bind
from sandbox.testing import script

HALF = "half \ud800"


@pytest.mark.parametrize(
    "spec",
    [
        replace(script(""), argv=("echo", HALF)),
        replace(script(""), env={"WORD": HALF}),
        replace(script(""), cwd=f"/{HALF}"),
        script("", Bind(Path("/usr"), f"/cell/{HALF}")),
        script("", Bind(Path(f"/{HALF}"), "/cell/in")),
    ],
    ids=["argv", "env", "cwd", "target", "source"],
)
def test_half_a_character_is_refused_wherever_it_stands(spec):
    with pytest.raises(SandboxRefusedError, match="lone surrogate"):
        refuse_unsafe(spec)


def test_a_byte_that_is_no_text_is_taken():
    refuse_unsafe(replace(script(""), argv=("echo", "byte \udcff")))
