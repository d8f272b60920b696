"""A plug-in of an agent, packed by an allow-list: its manifests, its skills, and what they use. The rest stays behind.

A plug-in is somebody else's checkout: what its repository keeps beside (tests, notes, settings of hosts) is no part of
the comparison, and a secret that lies about in it would be shown to every session.
"""

import json
import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from farm.errors import SpecError
from farm.model import KIB, MIB, PluginFolder
from farm.planning import tar
from farm.planning.folder import read_file
from farm.redaction.shapes import SHAPES

MANIFESTS = (".claude-plugin/plugin.json", ".codex-plugin/plugin.json")
"""At least one must be there; each must say the declared version."""
FOLDERS = ("assets", "scripts", "skills")
MOST_FILES = 2048
MOST_FILE_BYTES = 2 * MIB
MOST_BYTES = 16 * MIB
MOST_PATH_BYTES = 1 * KIB

_FORBIDDEN = frozenset(
    {
        *(".git", ".github", ".gitlab", ".gitignore", ".gitattributes", ".circleci", ".husky"),
        *(".ssh", ".gnupg", ".aws", ".azure", ".gcloud", ".config", ".docker", ".kube", ".netrc", ".npmrc", ".pypirc"),
        *("test", "tests", "__tests__", "spec", "docs", "doc", "node_modules"),
        *("__pycache__", ".cache", ".venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".DS_Store"),
    }
)
"""Left behind, wherever they stand."""
_CREDENTIALS = tuple(shape for shape in SHAPES if "keep" not in shape.pattern.groupindex)
"""Those that are told by themselves: what only a header's name betrays stands in every guide to an API."""
_SECRET_NAME = re.compile(
    r"(\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|keystore|jks)|credentials(\..*)?|secrets?(\..*)?)",
    re.IGNORECASE,
)


def pack_plugin(folder: Path, plugin: PluginFolder) -> bytes:
    """Pack the plug-in in `folder`; raise SpecError for what is missing, wrong, too large, or looks like a secret."""
    contents: list[tar.Content] = []
    size = 0
    for content in _contents(folder):
        contents.append(content)
        size += len(content.body)
        if len(contents) > MOST_FILES or size > MOST_BYTES:
            raise SpecError(f"the plug-in {folder} holds more than {MOST_FILES} files or {MOST_BYTES} bytes")
    paths = {content.entry.path for content in contents}
    _ensure_version(folder, contents, plugin.version)
    missing = [skill for skill in plugin.skills if f"skills/{skill}/SKILL.md" not in paths]
    if missing:
        raise SpecError(f"the plug-in {folder} has no skills/{missing[0]}/SKILL.md, which its arm needs")
    if not any(path.startswith("skills/") for path in paths):
        raise SpecError(f"the plug-in {folder} has no file below skills/")
    return b"".join(tar.write(contents))


def _contents(folder: Path) -> Iterator[tar.Content]:
    if folder.is_symlink() or not folder.is_dir():
        raise SpecError(f"the plug-in {folder} is no folder; name its real folder, relative to the sweep file")
    for manifest in MANIFESTS:
        path = folder / manifest
        if path.parent.is_symlink():
            raise SpecError(f"{path.parent} is a symbolic link; put the folder itself there")
        if path.is_symlink() or path.exists():
            yield _file(path, manifest, path.lstat())
    for name in FOLDERS:
        if os.path.lexists(folder / name):
            yield from _walk(folder / name, name)


def _walk(folder: Path, below: str) -> Iterator[tar.Content]:
    if folder.is_symlink() or not folder.is_dir():
        raise SpecError(f"{folder} is no folder, or a symbolic link; put the folder itself there")
    for path in sorted(folder.iterdir(), key=lambda path: os.fsencode(path.name)):
        if path.name in _FORBIDDEN:
            continue
        name = f"{below}/{path.name}"
        if not name.isprintable() or len(os.fsencode(name)) > MOST_PATH_BYTES:
            raise SpecError(f"the plug-in's path {name!r} can't be printed or is above {MOST_PATH_BYTES} bytes")
        status = path.lstat()
        if stat.S_ISDIR(status.st_mode):
            yield from _walk(path, name)
        else:
            yield _file(path, name, status)


def _file(path: Path, name: str, status: os.stat_result) -> tar.Content:
    if not stat.S_ISREG(status.st_mode):
        raise SpecError(f"{path} is no regular file; a plug-in holds nothing else")
    if _SECRET_NAME.fullmatch(path.name):
        raise SpecError(f"{path} is called as secrets are; take it out of the plug-in")
    body = read_file(path, MOST_FILE_BYTES)
    if _holds_credential(body):
        raise SpecError(f"{path} holds what looks like a secret; take it out of the plug-in")
    return tar.Content(tar.Entry(name, tar.EntryKind.FILE, len(body), bool(status.st_mode & stat.S_IXUSR)), body)


def _holds_credential(body: bytes) -> bool:
    text = body.decode("utf-8", "surrogateescape")
    lowered = text.lower()
    return any(shape.is_near(lowered) and shape.pattern.search(text) is not None for shape in _CREDENTIALS)


def _ensure_version(folder: Path, contents: list[tar.Content], version: str) -> None:
    manifests = [content for content in contents if content.entry.path in MANIFESTS]
    if not manifests:
        raise SpecError(f"the plug-in {folder} has no manifest; it needs {' or '.join(MANIFESTS)}")
    for manifest in manifests:
        where = f"the plug-in's manifest {folder / manifest.entry.path}"
        try:
            said = json.loads(manifest.body)
        except (ValueError, RecursionError) as error:
            raise SpecError(f"{where} is no JSON: {error}") from None
        found = said.get("version") if isinstance(said, dict) else None
        if found != version:
            raise SpecError(f"{where} says version {found!r}, and the sweep file {version!r}; they must be the same")
