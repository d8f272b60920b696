"""Reading which mounts stand below a folder."""

from pathlib import Path

from sandbox.disk.kernel import mount_points

MOUNTS = r"""
21 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 21 254:0 /a/disks /a/disks rw - ext4 /dev/vda rw
31 30 7:0 / /a/disks/one rw,nosuid - ext4 /dev/loop0 rw
32 21 7:1 / /a/disks-of-others rw - ext4 /dev/loop1 rw
33 30 7:2 / /a/disks/with\040space\134and\011tab rw - ext4 /dev/loop2 rw
""".lstrip()


def test_what_is_at_or_below_a_folder_is_given_in_the_order_of_mounting(tmp_path: Path) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(MOUNTS)
    points = ["/a/disks", "/a/disks/one", "/a/disks/with space\\and\ttab"]
    assert [str(point) for point in mount_points(Path("/a/disks"), table)] == points
    assert mount_points(Path("/b"), table) == []
