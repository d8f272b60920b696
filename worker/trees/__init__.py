"""Folders of untrusted files: looked at, copied, unpacked and removed without ever following a link."""
