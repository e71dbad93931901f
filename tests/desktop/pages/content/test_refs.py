"""Refs of elements."""

import pytest

from deskhand.desktop.pages.content.nodes import DomKey
from deskhand.desktop.pages.content.refs import STALE, RefTable
from deskhand.desktop.pages.errors import BrowserCallFailed

ONE, TWO, THREE = (DomKey("s", "d", number) for number in (1, 2, 3))


def test_an_element_keeps_its_ref() -> None:
    refs = RefTable()
    assert [refs.ref("t1", key) for key in (ONE, TWO, ONE)] == ["ref_1", "ref_2", "ref_1"]
    assert refs.ref("t2", ONE) == "ref_3"
    assert refs.find("[ref_2]", "t1") == TWO


def test_a_ref_of_another_tab_names_that_tab() -> None:
    refs = RefTable()
    refs.ref("t1", ONE)
    with pytest.raises(BrowserCallFailed, match='tab_id "t1"') as failed:
        refs.find("ref_1", "t2")
    assert (failed.value.status, failed.value.code) == (409, STALE)


def test_refs_that_are_too_old_or_of_a_closed_tab_are_stale() -> None:
    refs = RefTable(most=2)
    for key in (ONE, TWO, THREE):
        refs.ref("t1", key)
    with pytest.raises(BrowserCallFailed, match="Read tab t1 again with read_page or find"):
        refs.find("ref_1", "t1")
    refs.ref("t2", ONE)
    refs.forget("t1")
    assert refs.find("ref_4", "t2") == ONE
    with pytest.raises(BrowserCallFailed, match="stale"):
        refs.find("ref_3", "t1")
    assert refs.ref("t1", THREE) == "ref_5"
