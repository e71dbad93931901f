"""The statements of a script."""

import pytest

from deskhand.tools.store.creation.statements import statements_of

TRIGGER = """CREATE TRIGGER kept BEFORE DELETE ON audit BEGIN
    SELECT raise(ABORT, 'the log is kept');
END;"""


def test_a_statement_may_have_several_lines_and_contain_others() -> None:
    script = f"CREATE TABLE a (\n  b INTEGER\n);\n{TRIGGER}\n\n"
    assert statements_of(script) == ("CREATE TABLE a (\n  b INTEGER\n);", TRIGGER)


def test_a_statement_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="without an end: SELECT 1"):
        statements_of("SELECT 0;\nSELECT 1")


def test_an_empty_script_has_none() -> None:
    assert statements_of("\n") == ()
