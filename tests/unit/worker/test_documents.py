"""Strict JSON from strangers."""

import time

import pytest

from worker.documents import DocumentError, one_document


def test_the_first_key_that_stands_twice_is_named() -> None:
    with pytest.raises(DocumentError, match="the key 'b' stands twice"):
        one_document('{"a": 1, "b": 2, "b": 3, "a": 4}')


def test_a_key_that_stands_twice_is_found_in_time_that_grows_with_the_text_only() -> None:
    body = "{" + ",".join(f'"{number}":0' for number in range(20_000)) + ',"19999":1}'
    before_s = time.process_time()
    with pytest.raises(DocumentError, match="the key '19999' stands twice"):
        one_document(body)
    assert time.process_time() - before_s < 1
