"""What bubblewrap's messages are turned into."""

import pytest

from sandbox.backends.failures import explain


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: setting up uid map: Permission denied", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: No permissions to create a new namespace, likely because …", "apparmor_restrict_unprivileged_userns"),
        ("bwrap: Creating new namespace failed: No space left on device", "user.max_user_namespaces"),
        ("bwrap: Failed to make / slave: Operation not permitted", "CAP_SYS_ADMIN"),
        ("bwrap: Unexpected capabilities but not setuid, old file caps config?", "ambient"),
        ("bwrap: Can't find source path /x: Permission denied", "o+x"),
        ("bwrap: Can't chdir to /nowhere: No such file or directory", "a bind makes visible"),
        ("launcher: setgroups: Operation not permitted", "CAP_SETUID"),
    ],
)
def test_a_known_failure_says_its_fix_and_keeps_the_words(said, fix):
    assert fix in explain(said)
    assert said.split()[1] in explain(said)


def test_an_unknown_failure_is_quoted():
    assert "bwrap: something new" in explain("bwrap: something\nnew")


def test_silence_is_said():
    assert "nothing" in explain("")
