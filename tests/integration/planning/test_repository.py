import base64
import io
import os
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from farm.errors import SpecError
from farm.model import RepositorySpec
from farm.planning import repository
from farm.planning.repository import pack_repository
from tests.builders.planning import a_repository, git


def packed(folder: Path, ref: str = "HEAD", **place: str) -> bytes:
    target = folder / f"packed-{len(list(folder.iterdir()))}.tar"
    pack_repository(RepositorySpec.model_validate({"ref": ref} | (place or {"path": "repo"})), folder, target)
    return target.read_bytes()


def refused(folder: Path, ref: str = "HEAD", **place: str) -> str:
    with pytest.raises(SpecError) as caught:
        packed(folder, ref, **place)
    return str(caught.value)


def listing(body: bytes) -> dict[str, str]:
    with tarfile.open(fileobj=io.BytesIO(body), mode="r:") as tar:
        return {
            one.name: f"{oct(one.mode)} {one.linkname or (tar.extractfile(one) or io.BytesIO()).read().decode()}"
            for one in tar
        }


def a_tree(folder: Path, *lines: str) -> None:
    """Commit a tree that git's own tools would not make; each line is `mode type content path`."""
    entries = b""
    for line in lines:
        mode, kind, content, path = line.split(" ", 3)
        made = content if kind == "commit" else git(folder, "hash-object", "-w", "--stdin", stdin=content.encode())
        entries += f"{mode} {kind} {made}\t{path}".encode() + b"\0"
    tree = git(folder, "mktree", "-z", stdin=entries)
    commit = git(folder, "commit-tree", "-m", "made", tree)
    git(folder, "update-ref", "refs/heads/main", commit)


def test_a_commits_files_are_packed_with_their_modes_and_links(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo, {"src/a.py": "x\n", "two\nlines": "y", "ünï": "z"})
    (repo / "run").write_text("#!\n")
    (repo / "run").chmod(0o755)
    (repo / "src" / "up").symlink_to("../run")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "more")
    assert listing(packed(tmp_path)) == {
        "run": "0o755 #!\n",
        "src": "0o755 ",
        "src/a.py": "0o644 x\n",
        "src/up": "0o755 ../run",
        "two\nlines": "0o644 y",
        "ünï": "0o644 z",
    }


def test_what_is_not_committed_is_not_packed(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    (tmp_path / "repo" / "a.txt").write_text("changed\n")
    (tmp_path / "repo" / "new.txt").write_text("new\n")
    assert listing(packed(tmp_path)) == {"a.txt": "0o644 one\n"}


def test_a_ref_may_be_a_branch_a_tag_or_a_commit(tmp_path: Path) -> None:
    first = a_repository(tmp_path / "repo")
    git(tmp_path / "repo", "tag", "-a", "v1", "-m", "v1")
    (tmp_path / "repo" / "b.txt").write_text("two\n")
    git(tmp_path / "repo", "add", "-A")
    git(tmp_path / "repo", "commit", "-qm", "second")
    older = [listing(packed(tmp_path, ref)) for ref in ("v1", first, first[:10], "main~1")]
    assert older == [{"a.txt": "0o644 one\n"}] * 4
    assert set(listing(packed(tmp_path, "main"))) == {"a.txt", "b.txt"}


def test_every_way_to_the_same_commit_gives_the_same_bytes(tmp_path: Path) -> None:
    commit = a_repository(tmp_path / "repo", {"a": "1", "b/c": "2"})
    repo = tmp_path / "repo"
    git(repo, "bundle", "create", str(tmp_path / "repo.bundle"), "HEAD", "main")
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(tmp_path / "bare.git"))
    git(repo, "gc", "-q")
    url = f"file://{repo}"
    ways = [
        packed(tmp_path),
        packed(tmp_path, path="repo.bundle"),
        packed(tmp_path, path="bare.git"),
        packed(tmp_path, path=str(repo)),
        packed(tmp_path, url=url),
        packed(tmp_path, "main", url=url),
        packed(tmp_path, commit, url=url),
        packed(tmp_path, commit[:12], url=url),
    ]
    assert len(set(ways)) == 1


def test_the_repositorys_own_attributes_and_settings_change_nothing(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo, {"a.txt": "$Format:%H$\none\n", "left.txt": "x\n"})
    plain = listing(packed(tmp_path))
    (repo / ".git" / "info" / "attributes").write_text("a.txt export-subst eol=crlf\nleft.txt export-ignore\n")
    git(repo, "config", "core.autocrlf", "true")
    assert listing(packed(tmp_path)) == plain


def test_a_hostile_repositorys_settings_run_nothing(tmp_path: Path) -> None:
    repo, proof = tmp_path / "repo", tmp_path / "proof"
    a_repository(repo)
    for key in ("core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand", "uploadpack.packObjectsHook"):
        git(repo, "config", key, f"touch {proof}; false")
    git(repo, "config", "remote.origin.url", f"ext::sh -c 'touch {proof}'")
    git(repo, "config", "remote.origin.promisor", "true")
    git(repo, "config", "extensions.partialClone", "origin")
    git(repo, "config", "core.repositoryFormatVersion", "1")
    object_id = git(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    assert "repository 'repo'" in refused(tmp_path)
    assert not proof.exists()


def test_a_repository_of_somebody_else_can_be_read(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    if os.geteuid() == 0:
        os.chown(tmp_path / "repo", 1234, 1234)
        os.chown(tmp_path / "repo" / ".git", 1234, 1234)
    assert listing(packed(tmp_path)) == {"a.txt": "0o644 one\n"}


def test_a_replaced_object_is_read_as_it_was_committed(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo)
    other = git(repo, "hash-object", "-w", "--stdin", stdin=b"other\n")
    git(repo, "replace", git(repo, "rev-parse", "HEAD:a.txt"), other)
    assert listing(packed(tmp_path)) == {"a.txt": "0o644 one\n"}


def test_an_unresolvable_ref_names_the_refs_that_are_there(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    git(tmp_path / "repo", "tag", "v1")
    said = refused(tmp_path, "v2")
    assert said.startswith("repository 'repo' has no commit 'v2'; it has: ")
    assert "main" in said
    assert "v1" in said


def test_case_4_a_snapshot_holds_one_commits_files_however_many_refs_there_are(tmp_path: Path) -> None:
    commit = a_repository(tmp_path / "repo")
    alone = packed(tmp_path)
    refs = "".join(f"{commit} refs/heads/b{number:05}\n" for number in range(2_000))
    (tmp_path / "repo" / ".git" / "packed-refs").write_text(f"# pack-refs with: peeled fully-peeled sorted\n{refs}")
    assert packed(tmp_path, "b01999") == alone
    assert len(refused(tmp_path, "c")) < 1000


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    (tmp_path / "repo").mkdir()
    git(tmp_path / "repo", "init", "-q")
    assert refused(tmp_path) == "repository 'repo' has no commit 'HEAD'; it has no commit yet"


@pytest.mark.parametrize("ref", ["--upload-pack=touch proof", "-x", "", "a\nb"])
def test_a_ref_that_is_an_option_or_no_name_is_refused(tmp_path: Path, ref: str) -> None:
    a_repository(tmp_path / "repo")
    assert "is not a ref" in refused(tmp_path, ref)


def test_a_folder_that_is_no_repository_is_not_taken_for_the_one_around_it(tmp_path: Path) -> None:
    a_repository(tmp_path, {"repo/x": "y"})
    assert "repository 'repo' is not a git repository" in refused(tmp_path)


def test_a_missing_path_is_told(tmp_path: Path) -> None:
    assert "there is no folder and no bundle file there" in refused(tmp_path)


def test_a_file_that_is_no_bundle_is_told(tmp_path: Path) -> None:
    (tmp_path / "repo").write_text("not a bundle")
    assert "not a complete git bundle" in refused(tmp_path)


@pytest.mark.parametrize("url", ["ext::sh -c true", "repo", "/srv/repo", "ftp://host/x", "-x"])
def test_only_known_protocols_are_spoken(tmp_path: Path, url: str) -> None:
    assert "is not a URL of file, git, http, https, ssh" in refused(tmp_path, url=url)


def test_a_url_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    assert "can't be fetched" in refused(tmp_path, url=f"file://{tmp_path}/none")


def test_a_password_in_a_url_is_never_told(tmp_path: Path) -> None:
    said = refused(tmp_path, url="https://me:s3cret@127.0.0.1:1/x.git")
    assert "can't be fetched" in said
    assert "s3cret" not in said


def test_a_login_in_a_url_reaches_the_server_and_no_argv(tmp_path: Path) -> None:
    heard: list[str | None] = []
    argvs: list[bytes] = []

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers["Authorization"])
            argvs.extend(entry.read_bytes() for entry in Path("/proc").glob("[0-9]*/cmdline") if entry.exists())
            self.send_error(404)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        refused(tmp_path, url=f"http://me:s3%40cret@127.0.0.1:{server.server_port}/x.git")
        server.shutdown()
        thread.join()
    assert heard[0] == "Basic " + base64.b64encode(b"me:s3@cret").decode()
    assert not any(b"s3%40cret" in argv or b"s3@cret" in argv for argv in argvs)


def test_an_annotated_tag_of_a_url_is_its_commit(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    git(tmp_path / "repo", "tag", "-a", "v1", "-m", "v1")
    assert packed(tmp_path, "v1", url=f"file://{tmp_path}/repo") == packed(tmp_path)


def test_a_ref_that_a_url_does_not_have_names_those_it_has(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    assert "has no commit 'v9'; it has: main" in refused(tmp_path, "v9", url=f"file://{tmp_path}/repo")


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("link", "/etc/passwd"),
        ("link", "../outside"),
        ("link", "a/../../x"),
        ("link", "inner/../x"),
        ("link", ".git/config"),
        ("link", "x" * 5000),
    ],
)
def test_a_link_that_could_lead_out_is_refused(tmp_path: Path, path: str, target: str) -> None:
    a_repository(tmp_path / "repo")
    a_tree(tmp_path / "repo", f"120000 blob {target} {path}")
    assert "is a symbolic link out of the repository" in refused(tmp_path)


def hiding(folder: Path, *globs: str) -> bytes:
    target = folder / "hidden.tar"
    target.unlink(missing_ok=True)
    pack_repository(RepositorySpec(path="repo", hidden=globs), folder, target)
    return target.read_bytes()


def test_hidden_files_are_left_out_and_nothing_else_is(tmp_path: Path) -> None:
    files = {"a.txt": "a", "tests/hidden/t.py": "SECRET", "tests/hidden/deep/u.py": "SECRET", "tests/seen.py": "s"}
    a_repository(tmp_path / "repo", files | {"answers.json": "SECRET"})
    body = hiding(tmp_path, "tests/hidden/**", "*.json")
    assert listing(body) == {"a.txt": "0o644 a", "tests": "0o755 ", "tests/seen.py": "0o644 s"}
    assert b"SECRET" not in body
    assert b"hidden" not in body


def test_the_commit_of_a_snapshot_with_hidden_files_is_the_originals(tmp_path: Path) -> None:
    commit = a_repository(tmp_path / "repo", {"a.txt": "a", "tests/t.py": "t"})
    spec = RepositorySpec(path="repo", hidden=("tests/**",))
    assert pack_repository(spec, tmp_path, tmp_path / "hidden.tar") == commit


@pytest.mark.parametrize("glob", ["test/**", "tests", "Tests/**"])
def test_a_hidden_glob_that_matches_nothing_is_refused_even_beside_one_that_does(tmp_path: Path, glob: str) -> None:
    a_repository(tmp_path / "repo", {"a.txt": "a", "tests/t.py": "t"})
    with pytest.raises(SpecError, match=r"hidden '.*' matches no file of the commit; check the name"):
        hiding(tmp_path, "tests/**", glob)


def test_a_file_that_two_hidden_globs_match_is_no_mistake(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo", {"a.txt": "a", "tests/t.py": "t"})
    assert listing(hiding(tmp_path, "tests/**", "**/*.py")) == {"a.txt": "0o644 a"}


def test_what_is_hidden_may_be_what_no_snapshot_can_hold(tmp_path: Path) -> None:
    commit = a_repository(tmp_path / "repo")
    a_tree(tmp_path / "repo", "100644 blob x a.txt", f"160000 commit {commit} vendor", "120000 blob /etc out")
    assert listing(hiding(tmp_path, "vendor", "out")) == {"a.txt": "0o644 x"}


def test_a_pointer_of_git_lfs_is_refused_by_name(tmp_path: Path) -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 12345\n"
    a_repository(tmp_path / "repo", {"a.txt": "a", "model.bin": pointer})
    assert "'model.bin' is a pointer of Git LFS" in refused(tmp_path)
    assert listing(hiding(tmp_path, "model.bin")) == {"a.txt": "0o644 a"}


def test_odd_modes_of_old_repositories_become_plain_ones(tmp_path: Path) -> None:
    a_repository(tmp_path / "repo")
    a_tree(tmp_path / "repo", "100664 blob x a.txt", "100755 blob y run")
    assert listing(packed(tmp_path)) == {"a.txt": "0o644 x", "run": "0o755 y"}


def test_a_submodule_is_refused_by_name(tmp_path: Path) -> None:
    commit = a_repository(tmp_path / "repo")
    a_tree(tmp_path / "repo", f"160000 commit {commit} vendor")
    assert "'vendor' is a submodule, which is not supported" in refused(tmp_path)


@pytest.mark.parametrize("name", [".git", ".GIT", "..", "."])
def test_a_path_that_git_itself_would_not_make_is_refused(tmp_path: Path, name: str) -> None:
    a_repository(tmp_path / "repo")
    a_tree(tmp_path / "repo", f"100644 blob x {name}")
    assert "is unsafe" in refused(tmp_path)


def a_commit_of(repo: Path, *paths: str) -> None:
    """Commit files of one byte by paths that no disk may hold."""
    a_repository(repo)
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=b"x")
    told = "commit refs/heads/main\ncommitter a <a> 0 +0000\ndata 0\n"
    told += "".join(f"M 644 {blob} {path}\n" for path in paths)
    git(repo, "fast-import", "--quiet", "--force", stdin=told.encode())


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a/" * repository.MOST_DEPTH + "f", "folders deep; hide it, or move it up"),
        (f"{'a' * 200}/" * 15 + "f", "is longer than 3000 bytes"),
        ("a" * 256, "a name in it longer than 255"),
    ],
)
def test_a_path_that_no_workspace_can_hold_is_refused_and_may_be_hidden(tmp_path: Path, path: str, words: str) -> None:
    a_commit_of(tmp_path / "repo", path, "kept")
    assert words in refused(tmp_path)
    assert listing(hiding(tmp_path, "a*/**")) == {"kept": "0o644 x"}


def test_folders_count_among_what_a_snapshot_may_hold(tmp_path: Path) -> None:
    a_commit_of(tmp_path / "repo", *(f"{number}/{'a/' * 190}f" for number in range(800)))
    assert f"153600 files and folders are above the {repository.MOST_ENTRIES} allowed" in refused(tmp_path)


def test_a_path_that_stands_twice_is_refused(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo)
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=b"x")
    entry = b"100644 a\0" + bytes.fromhex(blob)
    tree = git(repo, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", stdin=entry * 2)
    git(repo, "update-ref", "refs/heads/main", git(repo, "commit-tree", "-m", "m", tree))
    assert "holds a path twice" in refused(tmp_path)


def test_a_file_name_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo)
    (repo / os.fsdecode(b"\xff")).write_text("x")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "m")
    assert "is not UTF-8; rename it" in refused(tmp_path)


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo)
    size = repository.MOST_FILE_BYTES + 1
    with (repo / "huge").open("wb") as stream:
        stream.truncate(size)
    git(repo, "-c", "core.compression=1", "-c", "core.bigFileThreshold=1m", "add", "huge")
    git(repo, "commit", "-qm", "huge")
    assert f"'huge' has {size} bytes, above the {repository.MOST_FILE_BYTES} allowed" in refused(tmp_path)


def test_a_missing_object_is_told(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    a_repository(repo)
    object_id = git(repo, "rev-parse", "HEAD:a.txt")
    (repo / ".git" / "objects" / object_id[:2] / object_id[2:]).unlink()
    assert "repair it with `git fsck`" in refused(tmp_path)


def test_nothing_is_left_behind_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_repository(tmp_path / "repo")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    packed(tmp_path, url=f"file://{tmp_path}/repo")
    refused(tmp_path, "v9", url=f"file://{tmp_path}/repo")
    assert list(scratch.iterdir()) == []
