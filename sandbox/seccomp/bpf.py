"""Classic BPF as seccomp reads it: just the instructions that the policy needs.

Every test is followed by its own return, so no jump is longer than a few instructions and none can be mis-aimed by a
later insertion. The kernel remembers the calls that are allowed whatever their arguments, so length costs nothing.
"""

import struct

_LOAD_WORD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06

ALLOW = 0x7FFF0000
KILL_PROCESS = 0x80000000
_ERRNO = 0x00050000

NUMBER_OFFSET = 0
ARCHITECTURE_OFFSET = 4
_FIRST_ARGUMENT_OFFSET = 16


def argument_offset(index: int) -> int:
    """Give the offset of an argument's low 32 bits on a little-endian machine."""
    return _FIRST_ARGUMENT_OFFSET + 8 * index


def errno_return(number: int) -> int:
    """Give the return value that makes the call fail with errno `number`."""
    return _ERRNO | number


def load(offset: int) -> bytes:
    """Load the 32-bit word at `offset` of seccomp's data."""
    return _instruction(_LOAD_WORD, 0, 0, offset)


def give(value: int) -> bytes:
    """End with `value`."""
    return _instruction(_RETURN, 0, 0, value)


def unless_equal(value: int, otherwise: bytes) -> bytes:
    """Run `otherwise` unless the loaded word is `value`."""
    return _instruction(_JUMP_EQUAL, _length(otherwise), 0, value) + otherwise


def when_equal(value: int, then: bytes) -> bytes:
    """Run `then` when the loaded word is `value`."""
    return _instruction(_JUMP_EQUAL, 0, _length(then), value) + then


def when_at_least(value: int, then: bytes) -> bytes:
    """Run `then` when the loaded word, unsigned, is `value` or more."""
    return _instruction(_JUMP_AT_LEAST, 0, _length(then), value) + then


def when_any_bit(mask: int, then: bytes) -> bytes:
    """Run `then` when the loaded word has any bit of `mask`."""
    return _instruction(_JUMP_ANY_BIT, 0, _length(then), mask) + then


def _length(code: bytes) -> int:
    return len(code) // 8


def _instruction(code: int, on_true: int, on_false: int, operand: int) -> bytes:
    return struct.pack("<HBBI", code, on_true, on_false, operand)
