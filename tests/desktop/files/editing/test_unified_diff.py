import subprocess
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.files.editing.unified_diff import unified

texts = st.text(alphabet="ab\n\x0c\u2028", max_size=40)


def test_nothing_changed_is_no_diff() -> None:
    assert unified("/f", "a\n", "a\n") == ""


def test_a_change_is_shown_with_three_lines_around_it() -> None:
    before = "".join(f"{number}\n" for number in range(1, 10))
    assert unified("/f", before, before.replace("5\n", "five\n")) == (
        "--- /f\n+++ /f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
    )


def test_a_missing_final_newline_is_said() -> None:
    assert unified("/f", "a", "b\n") == (
        "--- /f\n+++ /f\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n"
    )


def test_an_empty_side_has_line_zero() -> None:
    assert "@@ -0,0 +1,2 @@" in unified("/f", "", "a\nb\n")
    assert "@@ -1,2 +0,0 @@" in unified("/f", "a\nb\n", "")


@given(texts, texts)
def test_the_diff_turns_one_text_into_the_other(before: str, after: str) -> None:
    assert patched(before, unified("/f", before, after)) == after


def patched(before: str, diff: str) -> str:
    old, new, at = before.split("\n"), "", 0
    sign = ""
    for line in diff.split("\n")[2:]:
        match line[:1]:
            case "@":
                start = int(line.split(" ")[1].split(",")[0][1:])
                upto = start if ",0 " in line.split("+")[0] else start - 1
                new += "".join(f"{same}\n" for same in old[at:upto])
                at = upto
            case " " | "-":
                at += 1
                new += f"{line[1:]}\n" if line[0] == " " else ""
            case "+":
                new += f"{line[1:]}\n"
            case "\\":
                new = new if sign == "-" else new.removesuffix("\n")
        sign = line[:1]
    return new + "\n".join(old[at:])


def test_patch_makes_the_new_text_of_the_old_one(tmp_path: Path) -> None:
    before = "".join(f"line {number}\n" for number in range(40)) + "end"
    after = before.replace("line 3\n", "").replace("line 30", "line thirty") + "\n"
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text(before)
    new.write_text(unified("old", before, after))
    subprocess.run(["git", "apply", "-p0", str(new)], cwd=tmp_path, check=True)
    assert old.read_text() == after
