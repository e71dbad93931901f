import pytest

from deskhand.tools.commands.access.audit import record_line, verification

RECORD = {"at": 0.0, "actor": "owner", "action": "request", "subject": "d1", "details": {"a": "ö"}}


def test_a_record_is_one_line() -> None:
    line = record_line(RECORD)
    assert line.endswith('  owner  request  d1  {"a": "ö"}')
    assert line.startswith(("1969-12-31 ", "1970-01-01 "))
    empty = {**RECORD, "actor": "", "subject": "", "details": {}}
    assert record_line(empty).endswith("  -  request  -")


@pytest.mark.parametrize(
    ("problems", "result"), [([], "intact"), (["record 3 of one was changed"], "not intact")]
)
def test_a_verification_names_problems_and_the_newest_records(
    problems: list[str], result: str
) -> None:
    heads = [{"writer": "one", "n": 5, "hash": "abc"}]
    answer = {"intact": not problems, "problems": problems, "heads": heads}
    assert verification(answer) == [*problems, result, "one: record 5, abc"]
