"""Fields of sign-ins get exactly what an agent types, and what a person types in private.

tests/attack/test_secret_fields.py has the same for secrets that are typed by their names.
"""

import asyncio
import json
from queue import Empty

import pytest

from tests.programs.editors import WINDOWS, fresh, window
from tests.system.reporting_page import reporting_page
from tests.system.services import PATIENCE, Service, until
from tests.system.typing_targets import keyboard_of, strike, typed

pytestmark = [pytest.mark.programs, pytest.mark.x11, pytest.mark.browser]

PAGE = """<!doctype html><meta charset=utf-8><title>sign in</title><body><script>
const fields = [];
let count = 0;
const report = () => fetch(self === top ? "/page" : "/frame",
  {method: "POST", body: JSON.stringify([++count, fields.map((field) => field.value)])});
function add(parent, attributes = {}) {
  const field = document.createElement("input");
  Object.assign(field, {type: "password", ...attributes});
  field.addEventListener("input", report);
  fields.push(field);
  parent.append(field);
  return field;
}
const shadow = (mode) => document.body.appendChild(document.createElement("div"))
  .attachShadow({mode});
const first = add(document.body);
if (self !== top) first.addEventListener("focus", report);
if (self === top) {
  // A controlled input: its owner writes the value back that it has kept.
  let kept = "";
  const controlled = add(document.body);
  controlled.addEventListener("input", () => {
    kept = controlled.value; controlled.value = ""; controlled.value = kept; });
  const refusing = add(document.body);
  for (const name of ["paste", "drop", "copy"])
    refusing.addEventListener(name, (event) => event.preventDefault());
  add(shadow("open"));
  add(shadow("closed"));
  const boxes = [1, 2, 3, 4, 5, 6].map(() => add(document.body, {type: "text", maxLength: 1}));
  boxes.forEach((box, at) => box.addEventListener("input", () => boxes[at + 1]?.focus()));
  const frame = document.body.appendChild(document.createElement("iframe"));
  frame.onload = () => { first.focus(); report(); };
  frame.src = location.href.replace("127.0.0.1", "localhost");
}
</script>"""
VALUE = "Grüße-Ж-漢字-😀-é A1!\\"
CODE = "287082"
ORDINARY = 5
"""Fields of the page before the boxes of the code."""


@pytest.mark.slow(
    "a browser starts, and a text of twenty characters is typed into each of six fields"
)
@pytest.mark.parametrize("actor", ["agent", "person"])
def test_all_fields_of_a_sign_in_get_exactly_what_is_typed(desktop: Service, actor: str) -> None:
    *values, in_frame = (fresh(VALUE) for _ in range(ORDINARY + 1))
    found: dict[str, list[str]] = {}
    newest: dict[str, int] = {}
    with reporting_page(PAGE.encode()) as (url, reports):

        def report(path: str, wanted: list[str]) -> None:
            while found.get(path) != wanted:
                try:
                    changed, body = reports.get(timeout=PATIENCE)
                except Empty:
                    assert found.get(path) == wanted
                    raise
                number, now = json.loads(body)
                # Requests of a page may overtake each other.
                if number > newest.get(changed, 0):
                    newest[changed], found[changed] = number, now

        def strikes(text: str) -> None:
            if actor == "agent":
                typed(desktop, text)
                return
            asyncio.run(strike(desktop, text))
            assert desktop.http.delete("/api/v0/desktop/lease").is_success

        desktop.post("/api/v0/processes/start", {"command": f"exec browser {url}"})
        report("/page", [""] * (ORDINARY + len(CODE)))
        until(lambda: keyboard_of(desktop).startswith("sign in"), "the focus of the page")
        # The boxes move the focus on by themselves, and the last one keeps it.
        strikes("\t".join([*values, CODE]))
        report("/page", [*values, *CODE])
        # Chromium passes the focus to another process, and loses the keys of meanwhile.
        if actor == "agent":
            strikes(f"\t{in_frame}")
        else:
            strikes("\t")
            report("/frame", [""])
            strikes(in_frame)
        report("/frame", [in_frame])
        report("/page", [*values, *CODE])
        shown = window(desktop, "sign in")["id"]
        desktop.post(f"{WINDOWS}/{shown}/close", {})
