"""Redaction: no secret leaves a worker, in whatever text it stands. The one implementation; everything goes by it.

Two kinds of text are taken out: what we know to be secret, in the spellings of `spellings.py`, and what has the shape
of a credential (`shapes.py`). What is not redacted keeps its bytes, so that a digest of clean output is the digest of
that output. Time and memory grow with the text only: a guest writes most of what is read here.
"""

from farm.redaction.cutting import first_words, last_words
from farm.redaction.redactor import Redactor
from farm.redaction.shapes import MARK

__all__ = ["MARK", "Redactor", "first_words", "last_words"]
