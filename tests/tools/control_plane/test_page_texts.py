"""What people read is in the tables of texts of the pages, and in no other module of them."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "tools/control_plane/assets", ROOT / "vncbridge/viewer/assets")
TABLES = {"texts.js", "step_texts.js"}
VENDORED = {"vendor", "novnc"}

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|[`{}/]""", re.S
)
REGEX = re.compile(r"/(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/")
TEMPLATE_PART = re.compile(r"((?:[^`\\$]|\\.|\$(?!\{))*)(`|\$\{)", re.S)

INSERTED = "\N{OBJECT REPLACEMENT CHARACTER}"
"""Stands for each expression of a template."""
WORDS = re.compile(
    rf"[A-Za-z{INSERTED}][,.:;!?)]? \(?[A-Za-z{INSERTED}]|^[A-Z][a-z]+[ .:…!?]*$|^\d+ [a-z]"
)
"""Two words, a sentence, or one word with a capital."""
SHOWN_AS = re.compile(
    r'(?:\b(?:textContent|title|alt|placeholder|label)|"aria-label")\s*[:=,]\s*$|setText\([^;]*,\s*$'
)
NOT_SHOWN_AS = re.compile(
    r"\b(?:className:|class:|font =|rel =|matchMedia\(|querySelector(?:All)?\(|style\.\w+ =)\s*$"
    # Names of keys, headers and kinds of data.
    r'|(?:===|keys: \[|" ":|0x[0-9a-f]+,|headers\.get\(|\.includes\(|\.startsWith\()\s*$'
)
STYLE = re.compile(r"^(?:transparent |var\(--|linear-gradient\()|\[[a-z-]+='")
PRODUCT = "Deskhand"


class Literal(NamedTuple):
    """A string of a module, without its quotes, between the code before and after it."""

    before: str
    text: str
    after: str

    @property
    def is_shown(self) -> bool:
        """Whether people read it, as far as its form and the code before it show."""
        text = self.text.replace(PRODUCT, "")
        if not re.search("[A-Za-z]", text) or NOT_SHOWN_AS.search(self.before):
            return False
        if STYLE.search(text) or self.after.startswith(" in "):
            return False
        return bool(WORDS.search(text) or SHOWN_AS.search(self.before))


def literals(source: str) -> Iterator[Literal]:
    """Yield the strings and templates of a module; those inside of a template come before it."""
    # Each open brace, or the template that an expression interrupts: its start and its text.
    opened: list[tuple[int, str] | None] = []
    at = 0
    while token := TOKEN.search(source, at):
        at, kind = token.end(), token.group()
        template = None
        if token["string"]:
            yield _literal(source, token.start(), at, kind[1:-1])
        elif kind == "/":
            # It divides after a value, and begins a regular expression elsewhere.
            is_value = re.search(
                r"[\w$)\]]\s*$", source[max(0, token.start() - 20) : token.start()]
            )
            regex = REGEX.match(source, token.start())
            at = regex.end() if regex and not is_value else at
        elif kind == "{":
            opened.append(None)
        elif kind == "}":
            template = opened.pop()
        elif kind == "`":
            template = (token.start(), "")
        if template is not None:
            part = TEMPLATE_PART.match(source, at)
            assert part is not None
            start, text = template[0], template[1] + part[1]
            at = part.end()
            if part[2] == "`":
                yield _literal(source, start, at, text)
            else:
                opened.append((start, text + INSERTED))


def _literal(source: str, start: int, end: int, text: str) -> Literal:
    return Literal(source[max(0, start - 80) : start], text, source[end : end + 4])


def shown(source: str) -> list[str]:
    return [literal.text for literal in literals(source) if literal.is_shown]


def test_modules_of_the_pages_show_only_texts_of_their_tables() -> None:
    paths = [path for folder in PAGES for path in folder.rglob("*.js")]
    own = [path for path in paths if not VENDORED & {*path.parts} and path.name not in TABLES]
    assert len(own) > 100
    found = {str(path.relative_to(ROOT)): shown(path.read_text()) for path in own}
    assert not {name: texts for name, texts in found.items() if texts}


@pytest.mark.parametrize(
    ("source", "texts"),
    [
        ('button("Take control", act);', ["Take control"]),
        ('element("p", {}, "Copy")', ["Copy"]),
        ("say(`${count} watching`)", [f"{INSERTED} watching"]),
        ('say(count === 1 ? "1 step" : `${count} steps`)', ["1 step", f"{INSERTED} steps"]),
        ('made.setAttribute("aria-label", "keys")', ["keys"]),
        ('setText(byId("pin"), "pinned")', ["pinned"]),
        ('`a ${one ? `b ${"c"}` : { d: "e f" }.d}`', [f"b {INSERTED}", "e f", f"a {INSERTED}"]),
    ],
)
def test_a_text_is_found_outside_of_the_tables(source: str, texts: list[str]) -> None:
    assert shown(source) == texts


@pytest.mark.parametrize(
    "source",
    [
        "// It is not shown.\n/* Nor is it. */",
        'element("p", { className: "hint drop-hint" }, words.drop)',
        'if (event.key === "Escape") {}',
        'text.replace(/["\'] a b/g, "")',
        "document.title = `${name} · Deskhand`",
        "`${name}: ${text} …`",
        'fetch(`api/v0/runs/${id}`, { method: "PUT" })',
        'total / count; say("a")',
    ],
)
def test_code_and_the_order_of_parts_are_no_texts(source: str) -> None:
    assert shown(source) == []
