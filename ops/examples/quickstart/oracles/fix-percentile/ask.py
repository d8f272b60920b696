"""Run the candidate's code in a process of its own: what it does there (exit, print, patch) can't reach the check."""

import json
import pathlib
import subprocess
import sys


def ask(program, question):
    """Run `program` (Python source; reads JSON on stdin, writes its answer to the path in argv) and return the answer."""
    out = pathlib.Path("/tmp/answer.json")
    out.unlink(missing_ok=True)
    command = [sys.executable, "-I", "-B", "-c", "import sys; sys.path.insert(0, '.')\n" + program, str(out)]
    done = subprocess.run(command, input=json.dumps(question), env={}, text=True, timeout=20, capture_output=True)
    if done.returncode != 0 or not out.is_file():
        sys.exit(f"the code under test did not answer: {done.stderr.strip()[-500:]}")
    return json.loads(out.read_text(encoding="utf-8"))
