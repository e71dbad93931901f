"""The evaluator of an OSWorld task as a Python checker. Pure.

Four kinds of checks are supported, under OSWorld's names and under their own:

- text: ``check_include_exclude``, ``exact_match``, ``match_in_list`` of the output of a command or
  of a file
- file: ``compare_text_file``, ``file_contains``, and ``file`` for equal bytes
- url: ``is_expected_active_tab``, ``is_expected_tabs``, ``is_expected_url_pattern_match``
- process: ``process``, with parts of command lines to include and to exclude
"""

import json
import shlex
from collections.abc import Callable
from typing import Any

from deskhand.tools.evaluation.task import Checker, PlacedFile

from .gaps import BadOsworldTask, Gaps, Json, items, local_file, mapping, text_of, texts_of
from .setup_steps import HOME, command_line

Condition = dict[str, Any]

ADDRESSES = ("active_url_from_accessTree", "active_tab_info", "open_tabs_info")
KEYS = ("func", "result", "expected", "options", "conj", "postconfig")
SOURCE = """{checks}

def check(machine):
    import json
    text = {conditions!r}.replace({home!r}, json.dumps(machine.home)[1:-1])
    conditions = json.loads(text)
    for command in conditions["before"]:
        machine.run(command)
    check_conditions(machine, conditions["all"], conditions["every"])
"""


def read_evaluator(evaluator: Any, checks: str, gaps: Gaps) -> Checker:
    """Return the checker; adds what is not supported to ``gaps``.

    Raises:
        BadOsworldTask: If the evaluator has another form.
    """
    fields = mapping(evaluator, "evaluator")
    for key in fields:
        if key not in KEYS:
            gaps.add("evaluator", f"the key {key!r}")
    reader = _EvaluatorReader(gaps)
    functions = texts_of(fields, "func", "evaluator")
    if not functions:
        raise BadOsworldTask("evaluator.func: must be a text or a list of texts")
    several = isinstance(fields["func"], list)
    found = []
    for n, name in enumerate(functions):
        result, expected, options = (_part(fields, key, several, n) for key in KEYS[1:4])
        found.append(reader.condition(name, result, expected, options, n + 1))
    conj = fields.get("conj", "and")
    if conj not in ("and", "or"):
        gaps.add("evaluator", f"conj {conj!r}")
    conditions = {"all": found, "every": conj == "and", "before": reader.before(fields)}
    source = SOURCE.format(checks=checks, conditions=json.dumps(conditions), home=HOME)
    return Checker(python=source, files=tuple(reader.files))


def _part(fields: Json, key: str, several: bool, number: int) -> Json:
    """Return ``result``, ``expected`` or ``options`` of one function."""
    value = fields.get(key)
    if several and isinstance(value, list):
        value = value[number] if number < len(value) else None
    return {} if value is None else mapping(value, f"evaluator.{key}")


class _EvaluatorReader:
    def __init__(self, gaps: Gaps) -> None:
        self._gaps = gaps
        self.files: list[PlacedFile] = []
        self._functions: dict[str, Callable[[Json, Json, Json, str], Condition]] = {
            "text": self._include_exclude,
            "check_include_exclude": self._include_exclude,
            "exact_match": self._exact,
            "match_in_list": self._exact,
            "file": self._same_file,
            "compare_text_file": self._same_text,
            "file_contains": self._contains,
            "url": self._active_tab,
            "is_expected_active_tab": self._active_tab,
            "is_expected_tabs": self._tabs,
            "is_expected_url_pattern_match": self._patterns,
            "process": self._process,
        }

    def condition(
        self, name: str, result: Json, expected: Json, options: Json, number: int
    ) -> Condition:
        """Return the condition of one function; an empty one if it is not supported."""
        where = f"evaluator {number}"
        read = self._functions.get(name)
        if read is None:
            self._gaps.add(where, f"the function {name!r} (known are {', '.join(self._functions)})")
            return {}
        return read(result, expected, options, where)

    def before(self, fields: Json) -> list[list[str]]:
        """Return the commands that run before the checks."""
        commands = []
        for number, step in enumerate(items(fields.get("postconfig", []), "postconfig"), 1):
            where = f"evaluator.postconfig {number}"
            kind = text_of(step, "type", where)
            if kind in ("execute", "command"):
                given = mapping(step.get("parameters", {}), where)
                commands.append(["sh", "-c", command_line(given, where)])
            elif kind != "sleep":
                # Windows are closed when a checker runs.
                self._gaps.add(where, f"the type {kind!r} (known are execute, command, sleep)")
        return commands

    def _include_exclude(
        self, result: Json, expected: Json, _options: Json, where: str
    ) -> Condition:
        rules = self._rules(expected, where)
        source = self._source(result, where)
        return {"check": "text", "source": source, **_included(rules, where)}

    def _exact(self, result: Json, expected: Json, _options: Json, where: str) -> Condition:
        wanted = texts_of(self._rules(expected, where), "expected", f"{where}.expected.rules")
        return {"check": "text", "source": self._source(result, where), "equals": wanted}

    def _contains(self, result: Json, expected: Json, _options: Json, where: str) -> Condition:
        wanted = texts_of(self._rules(expected, where), "expected", f"{where}.expected.rules")
        source = self._source(result, where)
        return {"check": "text", "source": source, "include": wanted, "exclude": []}

    def _same_text(self, result: Json, expected: Json, options: Json, where: str) -> Condition:
        return {**self._same_file(result, expected, options, where), "as_text": True}

    def _same_file(self, result: Json, expected: Json, options: Json, where: str) -> Condition:
        if result.get("type") != "vm_file":
            self._gaps.add(where, f"the result {result.get('type')!r} (known is vm_file)")
            return {}
        condition: Condition = {
            "check": "file",
            "path": text_of(result, "path", f"{where}.result"),
            "as_text": False,
            "ignore_blanks": bool(options.get("ignore_blanks")),
            "ignore_case": bool(options.get("ignore_case")),
        }
        return condition | self._expected_file(expected, where)

    def _expected_file(self, expected: Json, where: str) -> Condition:
        kind = expected.get("type")
        if kind == "vm_file":
            return {"other": text_of(expected, "path", f"{where}.expected")}
        if kind not in ("cloud_file", "local_file"):
            self._gaps.add(where, f"the expected {kind!r} (known are local_file and vm_file)")
            return {}
        address = text_of(expected, "path", f"{where}.expected")
        source = local_file(address)
        if source is None:
            self._gaps.add(where, f"{address} (only files beside the task)")
            return {}
        kept = f"expected-{len(self.files)}"
        self.files.append(PlacedFile(kept, source=source))
        return {"kept": kept}

    def _active_tab(self, result: Json, expected: Json, _options: Json, where: str) -> Condition:
        self._addresses(result, where)
        url = text_of(self._rules(expected, where), "url", f"{where}.expected.rules")
        return {"check": "url", "urls": [url], "all": False}

    def _tabs(self, result: Json, expected: Json, _options: Json, where: str) -> Condition:
        self._addresses(result, where)
        urls = texts_of(self._rules(expected, where), "urls", f"{where}.expected.rules")
        return {"check": "url", "urls": urls, "all": True}

    def _patterns(self, result: Json, expected: Json, _options: Json, where: str) -> Condition:
        self._addresses(result, where)
        found = texts_of(self._rules(expected, where), "expected", f"{where}.expected.rules")
        return {"check": "url", "patterns": found}

    def _process(self, _result: Json, expected: Json, _options: Json, where: str) -> Condition:
        return {"check": "process", **_included(self._rules(expected, where), where)}

    def _addresses(self, result: Json, where: str) -> None:
        kind = result.get("type", ADDRESSES[0])
        if kind not in ADDRESSES:
            self._gaps.add(where, f"the result {kind!r} (known are {', '.join(ADDRESSES)})")

    def _rules(self, expected: Json, where: str) -> Json:
        kind = expected.get("type")
        if kind != "rule":
            self._gaps.add(where, f"the expected {kind!r} (known is rule)")
            return {"url": "-", "include": "-"}
        return mapping(expected.get("rules"), f"{where}.expected.rules")

    def _source(self, result: Json, where: str) -> Condition:
        kind = result.get("type")
        if kind == "vm_file":
            return {"file": text_of(result, "path", f"{where}.result")}
        if kind == "vm_command_line":
            line = command_line(result, f"{where}.result")
            return {"command": ["sh", "-c", line] if result.get("shell") else shlex.split(line)}
        self._gaps.add(where, f"the result {kind!r} (known are vm_command_line and vm_file)")
        return {}


def _included(rules: Json, where: str) -> Condition:
    include = texts_of(rules, "include", f"{where}.expected.rules")
    exclude = texts_of(rules, "exclude", f"{where}.expected.rules")
    if not (include or exclude):
        raise BadOsworldTask(f"{where}.expected.rules: include or exclude is needed")
    return {"include": include, "exclude": exclude}
