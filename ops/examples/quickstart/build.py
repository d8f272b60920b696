#!/usr/bin/env python3
"""Write repositories/<name>.bundle from history/<name>/: one commit for each numbered folder, its files laid over the last.

Authors and dates are fixed, so the commit ids never change: `build.py` again gives the same history. Plain Python and
git; run it after an edit of history/.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
FIRST_COMMIT_AT = 1_700_000_000
A_DAY = 86_400
ISOLATED = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"], "TZ": "UTC"}


def git(repository, *arguments, at=FIRST_COMMIT_AT):
    """Run git as the fixed author at the fixed time."""
    who = {}
    for role in ("AUTHOR", "COMMITTER"):
        who |= {f"GIT_{role}_NAME": "Robin Sample", f"GIT_{role}_EMAIL": "robin@example.org"}
        who |= {f"GIT_{role}_DATE": f"{at} +0000"}
    command = ["git", "-C", str(repository), "-c", "core.autocrlf=false", "-c", "core.fileMode=false", *arguments]
    return subprocess.run(command, env=ISOLATED | who, check=True, capture_output=True, text=True).stdout.strip()


def build(history, bundle):
    """Commit each step of `history`, write the bundle and return the last commit's id."""
    with tempfile.TemporaryDirectory() as folder:
        git(folder, "init", "--quiet", "--initial-branch=main", "--object-format=sha1")
        for number, step in enumerate(sorted(path for path in history.iterdir() if path.is_dir())):
            shutil.copytree(step, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
            message = pathlib.Path(folder, "message.txt")
            text = message.read_text(encoding="utf-8")
            message.unlink()
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "--no-gpg-sign", "--message", text, at=FIRST_COMMIT_AT + number * A_DAY)
        git(folder, "bundle", "create", "--quiet", str(bundle), "main")
        return git(folder, "rev-parse", "main")


def main():
    target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE / "repositories").resolve()
    target.mkdir(parents=True, exist_ok=True)
    for history in sorted((HERE / "history").iterdir()):
        print(history.name, build(history, target / f"{history.name}.bundle"))


if __name__ == "__main__":
    main()
