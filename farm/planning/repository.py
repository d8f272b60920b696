"""Turn a repository and a ref into a snapshot: the commit's files as a tar, the same bytes on any machine.

We list the tree and copy the blobs ourselves: `git archive` obeys the repository's own attributes, and its bytes
differ between versions of git. History, host paths and the repository's configuration never enter the plan.
"""

import posixpath
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import unquote

from farm.errors import SpecError
from farm.model import GIB, MIB, Digest, RepositorySpec, matches_any
from farm.planning import git, tar
from farm.planning.folder import pack_folder

MOST_FILES = 100_000
MOST_ENTRIES = 150_000
"""Files and folders: a workspace is taken in up to 200,000, with what its sessions add."""
MOST_DEPTH = 200
MOST_PATH_BYTES = 3000
MOST_NAME_BYTES = 255
MOST_FILE_BYTES = 256 * MIB
MOST_TREE_BYTES = 1 * GIB

_MOST_REFS_SHOWN = 5
_EVERY_REF = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*", "+HEAD:refs/farm/head")
_URL_PROTOCOLS = ("file", "git", "http", "https", "ssh")
_SECRET = re.compile(r"://[^/@\s]+@")
_SCP_LIKE = re.compile(r"[\w.-]+@[\w.-]+:(?!/{2}).+")


@dataclass(frozen=True, slots=True)
class _Blob:
    entry: tar.Entry
    object_id: str


def pack_repository(spec: RepositorySpec, folder: Path, target: Path) -> str:
    """Write the tar of the commit that `spec` names (relative to `folder`) to `target`; return the commit's id.

    Raises SpecError naming the repository for what is missing, unresolvable, unsafe or beyond the stated limits.
    """
    named = _SECRET.sub("://…@", spec.url or spec.path or "")
    with _opened(spec, folder, named) as (repository, ref):
        commit = _commit(repository, ref, named)
        try:
            blobs = _blobs(repository, commit, spec.hidden)
            with git.object_reader(repository) as reader, target.open("xb") as stream:
                for chunk in _tar(blobs, reader):
                    stream.write(chunk)
        except git.GitError as error:
            raise SpecError(f"repository {named!r} at {commit}: {error}; repair it with `git fsck`") from None
        except _UnsafeTreeError as error:
            raise SpecError(f"repository {named!r} at {commit}: {error}") from None
    return commit


def pack_plain(spec: RepositorySpec, folder: Path, target: Path) -> str:
    """Write the tar of a plain folder of ours to `target`; its commit id is the digest of the tar."""
    body = pack_folder(folder / (spec.path or ""))
    target.write_bytes(body)
    return Digest.of(body)


class _UnsafeTreeError(Exception):
    """What a snapshot may not hold."""


@contextmanager
def _opened(spec: RepositorySpec, folder: Path, named: str) -> Iterator[tuple[Path, str]]:
    """Give a local repository that has the commit, if there is one, and what to call it there."""
    if spec.ref.startswith("-") or not spec.ref.isprintable() or not spec.ref:
        raise SpecError(f"repository {named!r}: {spec.ref!r} is not a ref; name a branch, a tag or a commit")
    if spec.path is not None and (folder / spec.path).is_dir():
        yield _local((folder / spec.path).resolve(), named), spec.ref
        return
    with TemporaryDirectory(prefix="farm-clone-") as scratch:
        clone = Path(scratch).resolve() / "clone.git"
        if spec.path is not None:
            _clone_bundle((folder / spec.path).resolve(), clone, named)
            yield clone, spec.ref
        else:
            yield clone, _fetch_url(spec.url or "", spec.ref, clone, named)


def _local(repository: Path, named: str) -> Path:
    try:
        git.run_git(repository, "rev-parse", "--git-dir")
    except git.GitError as error:
        raise SpecError(
            f"repository {named!r} is not a git repository ({error}); run `git init` and commit in it, or fix the path"
        ) from None
    return repository


def _clone_bundle(bundle: Path, clone: Path, named: str) -> None:
    if not bundle.is_file():
        raise SpecError(f"repository {named!r}: there is no folder and no bundle file there; check the path")
    try:
        git.run_git(
            clone.parent, "clone", "--quiet", "--mirror", str(bundle), str(clone),
            protocols="file", timeout_s=git.FETCH_TIMEOUT_S,
        )  # fmt: skip
    except git.GitError as error:
        raise SpecError(
            f"repository {named!r} is a file but not a complete git bundle ({error}); make one with `git bundle create`"
        ) from None


def _fetch_url(url: str, ref: str, clone: Path, named: str) -> str:
    """Fetch the ref's commit alone where the server gives it, else every branch and tag; return what names it here."""
    scheme = url.partition("://")[0] if "://" in url else "ssh" if _SCP_LIKE.fullmatch(url) else ""
    if scheme not in _URL_PROTOCOLS:
        raise SpecError(f"repository {named!r} is not a URL of {', '.join(_URL_PROTOCOLS)}; for a folder write `path:`")
    protocols = "http:https" if scheme in {"http", "https"} else scheme  # servers redirect from one to the other
    git.run_git(clone.parent, "init", "--quiet", "--bare", str(clone))
    place, login = _without_login(url) if protocols == "http:https" else (url, None)
    with suppress(git.GitError):
        _fetch(clone, protocols, login, "--depth=1", "--no-tags", "--end-of-options", place, ref)
        return "FETCH_HEAD"
    try:
        _fetch(clone, protocols, login, "--no-tags", "--end-of-options", place, *_EVERY_REF)
        git.run_git(clone, "symbolic-ref", "HEAD", "refs/farm/head")
    except git.GitError as error:
        said = _SECRET.sub("://…@", str(error))
        raise SpecError(
            f"repository {named!r} can't be fetched ({said}); check the URL, the network and your rights to it"
        ) from None
    return ref


def _without_login(url: str) -> tuple[str, str | None]:
    """Part an http URL from its `user:password`, which must not stand in an argv that everybody can read."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    login, at, bare = host.rpartition("@")
    return f"{scheme}://{bare}{slash}{path}", unquote(login) if at else None


def _fetch(clone: Path, protocols: str, login: str | None, *args: str) -> None:
    git.run_git(clone, "fetch", "--quiet", *args, protocols=protocols, timeout_s=git.FETCH_TIMEOUT_S, login=login)


def _commit(repository: Path, ref: str, named: str) -> str:
    try:
        found = git.run_git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    except git.GitError:
        refs = git.run_git(
            repository, "for-each-ref", "--sort=-creatordate", "--format=%(refname:short)", "refs/heads", "refs/tags"
        )
        known = refs.decode(errors="replace").split()
        shown = ", ".join(known[:_MOST_REFS_SHOWN]) + (", …" if len(known) > _MOST_REFS_SHOWN else "")
        hint = f"it has: {shown}" if known else "it has no commit yet"
        raise SpecError(f"repository {named!r} has no commit {ref!r}; {hint}") from None
    return found.decode().strip()


def _blobs(repository: Path, commit: str, hidden: tuple[str, ...]) -> list[_Blob]:
    """List the tree in bounds, without what is hidden; link targets are still unread."""
    listing = git.run_git(repository, "ls-tree", "-r", "-z", "-l", "--full-tree", commit)
    lines = _without(hidden, listing.split(b"\0")[:-1])
    if len(lines) > MOST_FILES:
        raise _UnsafeTreeError(f"{len(lines)} files are above the {MOST_FILES} allowed")
    blobs = [_blob(line) for line in lines]
    total = sum(blob.entry.size for blob in blobs)
    if total > MOST_TREE_BYTES:
        raise _UnsafeTreeError(f"{total} bytes of files are above the {MOST_TREE_BYTES} allowed")
    paths = [blob.entry.path for blob in blobs]
    _no_path_twice(paths)
    _refuse_what_no_disk_holds(paths)
    return blobs


def _without(hidden: tuple[str, ...], lines: list[bytes]) -> list[bytes]:
    """Drop the lines of hidden files; a glob that hides nothing is a mistake that would show what it should hide."""
    left, idle = lines, []
    for glob in hidden:
        seen = [line for line in lines if not matches_any(_path_of(line), (glob,))]
        if len(seen) == len(lines):
            idle.append(glob)
        left = [line for line in left if not matches_any(_path_of(line), (glob,))]
    if idle:
        raise _UnsafeTreeError(
            f"hidden {idle[0]!r} matches no file of the commit; check the name, and for a folder write 'folder/**'"
        )
    return left


def _path_of(line: bytes) -> str:
    return line.partition(b"\t")[2].decode("utf-8", "surrogateescape")


def _blob(line: bytes) -> _Blob:
    meta, _, raw = line.partition(b"\t")
    mode, _, object_id, size = meta.decode().split()
    try:
        path = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise _UnsafeTreeError(f"the file name {raw!r} is not UTF-8; rename it") from None
    if mode == "160000":
        raise _UnsafeTreeError(f"{path!r} is a submodule, which is not supported; commit its files instead, or hide it")
    if any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/")):
        raise _UnsafeTreeError(f"the path {path!r} is unsafe")
    if not size.isdigit():
        raise git.GitError(f"object {object_id} of {path!r} is missing")
    if int(size) > MOST_FILE_BYTES:
        raise _UnsafeTreeError(f"{path!r} has {size} bytes, above the {MOST_FILE_BYTES} allowed")
    kind = tar.EntryKind.LINK if mode == "120000" else tar.EntryKind.FILE
    return _Blob(tar.Entry(path, kind, int(size), executable=mode == "100755"), object_id)


def _no_path_twice(paths: list[str]) -> None:
    known = set(paths)
    if len(known) != len(paths):
        raise _UnsafeTreeError("the tree holds a path twice; repair the repository")
    for path in paths:
        parents = path.split("/")[:-1]
        if any("/".join(parents[:n]) in known for n in range(1, len(parents) + 1)):
            raise _UnsafeTreeError(f"the tree holds {path!r} below a path that is a file; repair the repository")


def _refuse_what_no_disk_holds(paths: list[str]) -> None:
    """Refuse here what would else be refused in every cell."""
    folders: set[str] = set()
    for path in paths:
        parts = path.split("/")
        if len(parts) > MOST_DEPTH:
            raise _UnsafeTreeError(f"{path[:200]!r} lies more than {MOST_DEPTH} folders deep; hide it, or move it up")
        if len(path.encode()) > MOST_PATH_BYTES or max(len(part.encode()) for part in parts) > MOST_NAME_BYTES:
            bounds = f"{MOST_PATH_BYTES} bytes, or a name in it longer than {MOST_NAME_BYTES}"
            raise _UnsafeTreeError(f"the path {path[:200]!r} is longer than {bounds}; hide it, or rename it")
        folders.update("/".join(parts[:depth]) for depth in range(1, len(parts)))
    if len(paths) + len(folders) > MOST_ENTRIES:
        raise _UnsafeTreeError(f"{len(paths) + len(folders)} files and folders are above the {MOST_ENTRIES} allowed")


def _tar(blobs: list[_Blob], reader: git.ObjectReader) -> Iterator[bytes]:
    id_by_path = {blob.entry.path: blob.object_id for blob in blobs}
    for entry in tar.with_folders(blob.entry for blob in blobs):
        match entry.kind:
            case tar.EntryKind.FOLDER:
                yield tar.header(entry)
            case tar.EntryKind.FILE:
                yield tar.header(entry)
                for chunk in reader.blob(id_by_path[entry.path], entry.size):
                    _refuse_lfs_pointer(entry, chunk)
                    yield chunk
                yield tar.padding(entry.size)
            case tar.EntryKind.LINK:
                target = _target(entry, b"".join(reader.blob(id_by_path[entry.path], entry.size)))
                yield tar.header(tar.Entry(entry.path, entry.kind, target=target))
    yield tar.end()


_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_MOST_POINTER_BYTES = 1024


def _refuse_lfs_pointer(entry: tar.Entry, chunk: bytes) -> None:
    if entry.size < _MOST_POINTER_BYTES and chunk.startswith(_LFS_POINTER):
        raise _UnsafeTreeError(
            f"{entry.path!r} is a pointer of Git LFS, and its bytes are not in the repository; commit them, or hide it"
        )


_MOST_TARGET_BYTES = 4096


def _target(entry: tar.Entry, raw: bytes) -> str:
    """Check a link's target: relative, inside, and with `..` only in front.

    In front, because a `..` behind another link's name climbs from wherever that link leads.
    """
    try:
        target = raw.decode("utf-8")
    except UnicodeDecodeError:
        target = ""
    parts = [part for part in target.split("/") if part not in {"", "."}]
    climbs = next((n for n, part in enumerate(parts) if part != ".."), len(parts))
    inside = climbs <= entry.path.count("/") and ".." not in parts[climbs:]
    enters_git = ".git" in (part.lower() for part in parts)
    if not target or posixpath.isabs(target) or not inside or enters_git or len(raw) > _MOST_TARGET_BYTES:
        raise _UnsafeTreeError(f"{entry.path!r} is a symbolic link out of the repository ({raw[:200]!r}); remove it")
    return target
