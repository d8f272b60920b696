"""A machine for the few instructions that the system-call filter uses, to see what it decides on any architecture."""

import struct

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06


def decide(program, audit, number, *arguments):
    """Give the filter's return value for one system call."""
    padded = (*arguments, *(0,) * (6 - len(arguments)))
    data = struct.pack("<IIQ6Q", number & 0xFFFFFFFF, audit, 0, *(argument & (2**64 - 1) for argument in padded))
    instructions = list(struct.iter_unpack("<HBBI", program))
    word, at = 0, 0
    while True:
        code, on_true, on_false, operand = instructions[at]
        at += 1
        if code == RETURN:
            return operand
        if code == LOAD:
            word = struct.unpack_from("<I", data, operand)[0]
        else:
            holds = {EQUAL: word == operand, AT_LEAST: word >= operand, ANY_BIT: bool(word & operand)}[code]
            at += on_true if holds else on_false
