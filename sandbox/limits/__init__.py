"""What holds a sandbox's whole tree to its limits: control groups, where the machine gives them to us."""

from sandbox.limits.finding import Found, find, of_process
from sandbox.limits.group import Group, Groups, Usage
from sandbox.limits.interface import Bounds

__all__ = ["Bounds", "Found", "Group", "Groups", "Usage", "find", "of_process"]
