"""Attacks on the field of a secret: fields that show it, and focus that is stolen meanwhile."""

from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO

import pytest
from PIL import Image

from tests.attack.test_secrets import (
    ACTION,
    BANK,
    THIEF,
    TREE,
    VALUE,
    enter_field,
    every,
    field_focused,
    field_ref,
)
from tests.system.reporting_page import PageHandler, serving
from tests.system.services import PATIENCE, Json, Service, tidy, until

pytestmark = [pytest.mark.attack, pytest.mark.root, pytest.mark.x11]

STYLE = "style='width:60%;font-size:30px'"
PASSWORD = f"<input type=password id=p autofocus aria-label=Pass {STYLE}>"
REPORT = """<script>
const all = () => [...document.querySelectorAll("input")];
let count = 0;
addEventListener("input", () => fetch(`/${++count}`, {method: "POST",
  body: JSON.stringify(all().map(one => one.value))}));
</script>"""
BOXES = "".join(
    f"<input maxlength=1 size=1 {'autocomplete=one-time-code aria-label=Pass autofocus' * first}>"
    for first in (1, 0, 0, 0, 0, 0)
)
PAGES = {
    "/search": f"<input type=search autofocus aria-label=Pass {STYLE}>" + REPORT,
    "/note": f"<textarea autofocus aria-label=Pass {STYLE}></textarea>" + REPORT,
    "/user": f"<input autocomplete='section-a username' autofocus aria-label=Pass {STYLE}>"
    "<button>Beside</button>" + REPORT,
    "/form": f"<form><input name=user autofocus aria-label=Pass {STYLE}>"
    "<input type=password></form>" + REPORT,
    # A page that shows the password that was entered.
    "/eye": PASSWORD
    + "<button>Beside</button>"
    + REPORT
    + "<script>p.addEventListener('input', () => p.type = p.value ? 'text' : 'password')</script>",
    "/stolen": PASSWORD
    + "<input id=plain aria-label=Plain>"
    + REPORT
    + "<script>p.addEventListener('input', () => plain.focus())</script>",
    "/keydown": PASSWORD
    + "<input id=plain aria-label=Plain>"
    + REPORT
    + "<script>p.addEventListener('keydown', () => plain.focus())</script>",
    "/timer": PASSWORD
    + "<input id=plain aria-label=Plain>"
    + REPORT
    + "<script>p.addEventListener('input', () => setInterval(() => plain.focus(), 1))</script>",
    "/react": PASSWORD
    + REPORT
    # A controlled input: its owner writes the value back that it has kept.
    + """<script>
let kept = "";
p.addEventListener("input", () => { kept = p.value; p.value = ""; p.value = kept; });
</script>""",
    "/paste": PASSWORD.replace("<input", "<input onpaste='return false' ondrop='return false'")
    + REPORT,
    "/shadow": """<x-field></x-field><script>
const root = document.querySelector("x-field").attachShadow({mode: "MODE"});
root.innerHTML = "<input type=password aria-label=Pass style='width:60%;font-size:30px'>";
const field = root.querySelector("input");
let count = 0;
field.addEventListener("input", () => fetch(`/${++count}`, {method: "POST",
  body: JSON.stringify([field.value])}));
field.focus();
</script>""",
    "/boxes": BOXES + REPORT,
    "/jumping": BOXES
    + REPORT
    + """<script>
all().forEach((box, at) => box.addEventListener("input", () => all()[at + 1]?.focus()));
</script>""",
    "/late": BOXES
    + REPORT
    + """<script>
all().forEach((box, at) => box.addEventListener("keyup", () => all()[at + 1]?.focus()));
</script>""",
    "/short": "<input type=password maxlength=8 autofocus aria-label=Pass>" + REPORT,
}
PAGES["/open"] = PAGES["/shadow"].replace("MODE", "open")
PAGES["/closed"] = PAGES["/shadow"].replace("MODE", "closed")
CODE = "287082"
UNICODE = "Grüße-Ж-漢字-\N{GRINNING FACE}-é"


class Bank:
    """A site of the bank, and the values that its pages have reported."""

    def __init__(self) -> None:
        self.reported: dict[int, str] = {}
        """Values by number: requests of a page may overtake each other."""
        self.port = 0

    @property
    def value(self) -> str:
        """The newest value, empty before the first."""
        return self.reported[max(self.reported)] if self.reported else ""

    def url(self, path: str, host: str = BANK) -> str:
        return f"http://{host}:{self.port}{path}"

    def handler(self) -> type[PageHandler]:
        bank = self

        class Handler(PageHandler):
            def do_GET(self) -> None:
                host = self.headers["Host"].partition(":")[0]
                if (host, self.path) == (THIEF, "/framing"):
                    inner = bank.url("/inner")
                    page = f"<iframe src='{inner}' width=900 height=300></iframe>"
                else:
                    page = PAGES.get(self.path.replace("/inner", "/react"), "")
                self.answer(f"<title>Page</title>{page}".encode())

            def do_POST(self) -> None:
                bank.reported[int(self.path[1:])] = self.body()
                self.answer(b"")

        return Handler


@pytest.fixture
def bank() -> Iterator[Bank]:
    found = Bank()
    with serving(found.handler()) as found.port:
        yield found


@pytest.fixture(scope="module")
def one_desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A desktop whose browser reports its widgets, with a tab that stays."""
    with tidy(tmp_path_factory.mktemp("fields") / "errors.log") as found:
        found.get(TREE)
        open_tab(found, "about:blank")
        until(lambda: "about:blank" in str(found.get(TREE)), "the first tab")
        yield found


@pytest.fixture
def desktop(one_desktop: Service) -> Iterator[Service]:
    """The same; the tab that a test opens there is closed after it."""
    yield one_desktop
    assert one_desktop.http.delete("/api/v0/desktop/secrets").is_success
    one_desktop.act(action="key", text="ctrl+w")
    until(lambda: not field_ref(one_desktop), "the end of the tab")


def open_tab(desktop: Service, url: str) -> None:
    command = f"browser '{url}' > /dev/null 2>&1 &"
    desktop.post("/api/v0/processes/start", {"command": command})


def browse(desktop: Service, url: str) -> None:
    """Open a page, and return when its field has the focus and the desktop knows that."""
    open_tab(desktop, url)
    until(lambda: enter_field(desktop), "the focus in the field")
    until(lambda: desktop.get("/api/v0/desktop/focus")["field"], "the field with the keyboard")


def enter(desktop: Service, text: str = VALUE, **rules: object) -> tuple[int, Json]:
    wanted = {"action": "type", "text": text, "hosts": [f"http://{BANK}"], **rules}
    until(lambda: enter_field(desktop), "the focus in the field")
    answer = desktop.http.post(ACTION, json=wanted, timeout=3 * PATIENCE)
    return answer.status_code, answer.json()


def last(bank: Bank, wanted: str) -> None:
    with suppress(AssertionError):
        until(lambda: bank.value == wanted, "the value")
    assert bank.value == wanted


def field_picture(desktop: Service) -> bytes:
    """Return the pixels of the field."""
    nodes = every(desktop.get(TREE)["applications"])
    left, top, right, bottom = next(one["rectangle"] for one in nodes if one.get("name") == "Pass")
    query = {"coordinate_space": "native", "cursor": "false", "format": "png"}
    taken = desktop.http.get("/api/v0/desktop/screenshot", params=query)
    shown = Image.open(BytesIO(taken.content))
    return shown.crop((left, top, right, bottom)).tobytes()


@pytest.mark.slow("the first one starts a browser")
@pytest.mark.parametrize("path", ["/search", pytest.param("/note", marks=pytest.mark.full)])
def test_a_field_that_is_not_of_a_sign_in_gets_no_secret(
    desktop: Service, bank: Bank, path: str
) -> None:
    browse(desktop, bank.url(path))
    status, answer = enter(desktop)
    assert (status, answer.get("code")) == (409, "unfit_field"), answer
    assert "“Pass”" in str(answer)
    assert "any_field" in str(answer)
    assert bank.reported == {}
    # An owner's choice.
    assert enter(desktop, any_field=True)[0] == 200
    if path == "/search":
        last(bank, f'["{VALUE}"]')


@pytest.mark.slow("the first one starts a browser")
@pytest.mark.parametrize("path", ["/user", "/form", "/eye"])
def test_a_field_that_shows_a_secret_is_masked_on_the_screen(
    desktop: Service, bank: Bank, path: str
) -> None:
    browse(desktop, bank.url(path))
    pictures: list[bytes] = []

    def typed(text: str) -> bytes:
        """Return the pixels of the field with a text, without the focus and so without a caret."""
        until(lambda: text in bank.value, "the text in the field")
        desktop.act(action="key", text="Tab")
        until(lambda: not field_focused(desktop), "the focus beside the field")
        return field_picture(desktop)

    def empty() -> None:
        until(lambda: enter_field(desktop), "the focus in the field")
        desktop.act(action="key", text="ctrl+a")
        desktop.act(action="key", text="BackSpace")

    # Of the same length, so that their masks are alike.
    for text in ("Wim-Wim-Wim", "lil.lil.lil"):
        empty()
        assert enter(desktop, text)[0] == 200
        pictures.append(typed(text))
    assert pictures[0] == pictures[1]
    # The control: what others type into the field after it was emptied is shown.
    empty()
    desktop.act(action="type", text="Wim-Wim-Wim")
    assert typed("Wim-Wim-Wim") != pictures[0]


@pytest.mark.slow("the first one starts a browser")
@pytest.mark.parametrize("path", ["/stolen", "/keydown", "/timer"])
def test_a_page_that_steals_the_focus_gets_no_character_elsewhere(
    desktop: Service, bank: Bank, path: str
) -> None:
    browse(desktop, bank.url(path))
    assert enter(desktop)[0] == 200
    last(bank, f'["{VALUE}",""]')


@pytest.mark.slow("the first one starts a browser")
@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("/react", UNICODE),
        ("/paste", VALUE),
        ("/open", VALUE),
        ("/closed", UNICODE),
    ],
)
def test_a_secret_is_exact_in_any_field(desktop: Service, bank: Bank, path: str, text: str) -> None:
    browse(desktop, bank.url(path))
    assert enter(desktop, text)[0] == 200
    last(bank, f'["{text}"]')


@pytest.mark.slow("the first one starts a browser")
@pytest.mark.parametrize("path", ["/boxes", "/jumping", "/late"])
def test_a_one_time_code_fills_its_boxes(desktop: Service, bank: Bank, path: str) -> None:
    browse(desktop, bank.url(path))
    assert enter(desktop, CODE)[0] == 200
    last(bank, str([*CODE]).replace("'", '"').replace(" ", ""))


@pytest.mark.slow("the first one starts a browser")
def test_a_secret_goes_into_a_frame_of_its_site_in_a_page_of_another(
    desktop: Service, bank: Bank
) -> None:
    browse(desktop, bank.url("/framing", THIEF))
    assert enter(desktop)[0] == 200
    last(bank, f'["{VALUE}"]')


@pytest.mark.slow("the first one starts a browser")
def test_a_field_that_is_too_short_gets_nothing(desktop: Service, bank: Bank) -> None:
    browse(desktop, bank.url("/short"))
    status, answer = enter(desktop)
    assert (status, answer.get("code")) == (409, "field_too_short"), answer
    assert bank.reported == {}
    assert enter(desktop, VALUE[:8])[0] == 200
    last(bank, f'["{VALUE[:8]}"]')
