from deskhand.desktop.mcp.calls.step_titles import LONGEST, step_title


def test_a_step_is_named_after_what_it_changes() -> None:
    assert step_title("execute", {"command": "ls"}) == "execute: ls"
    assert step_title("computer_open", {"target": "browser"}) == "computer_open: browser"
    edits = [{"path": "/a"}, {"path": "/b"}, {"path": "/a"}]
    assert step_title("edit_files", {"edits": edits}) == "edit_files: /a, /b"


def test_what_only_reads_or_records_itself_makes_no_step() -> None:
    assert step_title("read_file", {"path": "/a"}) is None
    assert step_title("computer_act", {}) is None


def test_a_long_title_is_cut() -> None:
    assert len(step_title("execute", {"command": "x" * 1000}) or "") == LONGEST
