import pytest

from deskhand.desktop.context.skill_meta import BadSkill, body, front_matter, skill_meta


def text(*lines: str) -> str:
    return "\n".join(("---", *lines, "---", "Do it so."))


def test_a_skill_has_a_name_and_a_description() -> None:
    meta = skill_meta(
        text("name: fill-forms", "description: Fills  forms<!-- x -->."), "fill-forms"
    )
    assert (meta.name, meta.description) == ("fill-forms", "Fills forms.")
    assert skill_meta("\ufeff" + text("name: a"), "a").description == ""
    assert len(skill_meta(text("name: a", "description: " + 2000 * "b"), "a").description) == 1024


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ("plain # comment", "plain"),
        ("a#b", "a#b"),
        ('"quoted \\"twice\\"" # comment', 'quoted "twice"'),
        ("'it''s'", "it's"),
        ("'open", None),
        ("", None),
        ("3", None),
        ("true", None),
        ("[a, b]", None),
        ("first\n  second", "first second"),
        (">\n  one\n  two\n", "one two"),
        ("|-\n  one\n\n  two", "one\n\ntwo"),
    ],
)
def test_values_are_scalars_of_yaml(value: str, read: str | None) -> None:
    found = front_matter(text("# comment", f"key: {value}", "list:", "- a", "other: b"))
    assert found.get("key") == read
    assert found["other"] == "b"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "no front matter"),
        ("name: a", "no front matter"),
        ("---\nname: a", "has no end"),
        (text("title: a"), "no name"),
        (text("name: 3"), "no name"),
        (text("name: Fill Forms"), "lower-case words"),
        (text("name: a--b"), "lower-case words"),
        (text("name: other"), "not that of its directory, a"),
    ],
)
def test_another_file_is_no_skill(content: str, reason: str) -> None:
    with pytest.raises(BadSkill, match=reason):
        skill_meta(content, "a")


def test_the_first_of_two_values_counts() -> None:
    assert front_matter(text("name: a", "name: b")) == {"name": "a"}


@pytest.mark.parametrize(
    ("content", "rest"),
    [
        (text("name: a"), "Do it so."),
        ("No front matter\n---\n", "No front matter\n---\n"),
        ("---\nname: a", "---\nname: a"),
        ("", ""),
    ],
)
def test_the_body_follows_the_front_matter(content: str, rest: str) -> None:
    assert body(content) == rest
