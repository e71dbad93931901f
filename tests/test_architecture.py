"""The rules of ARCHITECTURE.md: one test for each, and a bad example that it must report."""

import ast
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from scripts.draw_architecture import drawn, updated
from tests.layers import (
    BELOW,
    COMPOSERS,
    LAYERS,
    OWNER,
    PURE,
    TWINS,
    VALUES,
    WEB,
    WEB_FOLDERS,
    WORLD,
)
from tests.source_tree import PACKAGES, Module, SourceTree

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "tests" / "data" / "architecture"

# Alarms: what exceeds one is looked at, and is never divided only to stay below it.
MOST_LINES = 420
MOST_MODULES = 17
MOST_ROOT_MODULES = 12
MOST_FUNCTION_LINES = 65
MIGRATIONS = "tools/store/migrations"
"""A migration is one list of statements, written once and never changed."""

RAY = "tools.cluster.placing.rooms"

Rule = Callable[[SourceTree], Iterator[str]]


def imports_go_down_and_only_where_the_layers_allow(tree: SourceTree) -> Iterator[str]:
    for name, used in tree.graph.items():
        module = tree.modules[name]
        for other in (tree.modules[one] for one in sorted(used)):
            if not _allowed(module, other):
                yield f"{name} imports {other.name}"


def every_permission_is_used(tree: SourceTree) -> Iterator[str]:
    used = {
        (tree.modules[name].place, tree.modules[other].place)
        for name, others in tree.graph.items()
        for other in others
    }
    for place, allowed in LAYERS.items():
        yield from (
            f"{place} may import {one} and does not"
            for one in sorted(allowed)
            if (place, one) not in used
        )


def folders_form_no_cycle(tree: SourceTree) -> Iterator[str]:
    graph: dict[str, set[str]] = {}
    for name, used in tree.graph.items():
        module = tree.modules[name]
        inner = {
            other.place
            for other in (tree.modules[one] for one in used)
            if other.place != module.place and not other.is_vocabulary
        }
        if not module.is_vocabulary:
            graph.setdefault(module.place, set()).update(inner)
    yield from _cycle(graph)


def modules_form_no_cycle(tree: SourceTree) -> Iterator[str]:
    yield from _cycle(tree.graph)


def every_import_names_deskhand_or_a_sibling(tree: SourceTree) -> Iterator[str]:
    for name, used in tree.imports.items():
        for one in used:
            if one.level > 1:
                yield f"{name} imports from {one.level} folders up"
            if not one.ours and one.name.partition(".")[0] in PACKAGES:
                yield f"{name} imports {one.name} without deskhand"


def imports_stand_at_the_top(tree: SourceTree) -> Iterator[str]:
    for name, used in tree.imports.items():
        yield from (f"{name} imports {one.name} in a function" for one in used if one.inner)


def each_outside_library_stays_in_its_folders(tree: SourceTree) -> Iterator[str]:
    for name, used in tree.imports.items():
        module = tree.modules[name]
        for library in sorted({one.name.partition(".")[0] for one in used if not one.ours}):
            if library in OWNER and not _owns(module, library):
                yield f"{name} imports {library}"


def one_module_uses_ray_and_none_imports_it(tree: SourceTree) -> Iterator[str]:
    """Ray ends a process whose head is gone, so control planes load it in a child."""
    for name, used in tree.imports.items():
        for one in used:
            foreign = not one.ours and one.name.partition(".")[0] == "ray"
            if name != RAY and (foreign or one.name == RAY):
                yield f"{name} imports {one.name}"


def what_must_be_pure_reaches_nothing_of_the_world(tree: SourceTree) -> Iterator[str]:
    for name, module in tree.modules.items():
        if module.folder in PURE or module.path in PURE:
            world = tree.world(name, WORLD)
            if world:
                yield f"{name} reaches {', '.join(sorted(world))}"


def every_pure_module_has_its_own_test_file(tree: SourceTree) -> Iterator[str]:
    for module in tree.pure(WORLD):
        if module.needs_own_tests(VALUES) and not (ROOT / module.own_tests).exists():
            yield f"{module.name} has no {module.own_tests}"


def files_folders_and_functions_stay_small(tree: SourceTree) -> Iterator[str]:
    for folder, modules in tree.folders.items():
        most = MOST_ROOT_MODULES if folder in PACKAGES else MOST_MODULES
        if len(modules) > most:
            yield f"{folder} has {len(modules)} modules"
    for name, module in tree.modules.items():
        lines = len(module.text.splitlines())
        if lines > MOST_LINES:
            yield f"{name} has {lines} lines"
        functions = [] if module.folder.startswith(MIGRATIONS) else ast.walk(module.tree)
        for node in functions:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                if length > MOST_FUNCTION_LINES:
                    yield f"{name}.{node.name} has {length} lines"


def no_two_public_classes_share_a_name(tree: SourceTree) -> Iterator[str]:
    found: dict[str, list[tuple[str, bool]]] = {}
    for name, module in tree.modules.items():
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.setdefault(node.name, []).append((name, _is_port(node)))
    for kind, places in found.items():
        implementations = [name for name, port in places if not port]
        ports = len(places) - len(implementations)
        # A port and its one implementation may share a name, and so may twins.
        twins = {f"{name.removesuffix('_sync')}_sync" for name in implementations}
        fine = (
            len(places) == 1
            or (ports == 1 and len(implementations) == 1)
            or (kind in TWINS and ports == 0 and len(twins) == 1)
        )
        if not fine:
            yield f"{kind} is in {', '.join(name for name, _ in places)}"


def every_folder_says_its_purpose_and_nothing_else(tree: SourceTree) -> Iterator[str]:
    for folder in tree.folders:
        package = tree.modules.get(folder.replace("/", "."))
        if package is None or not package.path.endswith("__init__.py"):
            yield f"{folder} has no __init__.py"
        elif len(package.tree.body) != 1 or not ast.get_docstring(package.tree):
            yield f"{folder}/__init__.py is more or less than a docstring"


RULES: list[Rule] = [
    imports_go_down_and_only_where_the_layers_allow,
    every_permission_is_used,
    folders_form_no_cycle,
    modules_form_no_cycle,
    every_import_names_deskhand_or_a_sibling,
    imports_stand_at_the_top,
    each_outside_library_stays_in_its_folders,
    one_module_uses_ray_and_none_imports_it,
    what_must_be_pure_reaches_nothing_of_the_world,
    every_pure_module_has_its_own_test_file,
    files_folders_and_functions_stay_small,
    no_two_public_classes_share_a_name,
    every_folder_says_its_purpose_and_nothing_else,
]


@pytest.fixture(scope="module")
def tree() -> SourceTree:
    return SourceTree.at(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_obeys_the_rule(rule: Rule, tree: SourceTree) -> None:
    assert tree.modules
    offenders = list(rule(tree))
    assert not offenders, "\n".join(["", *offenders])


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_rule_reports_its_bad_example(rule: Rule) -> None:
    example = (EXAMPLES / f"{rule.__name__}.txt").read_text()
    expected = [line[2:] for line in example.split("\n") if line.startswith("# ")]
    found = list(rule(SourceTree.from_example(example)))
    assert expected
    assert [line for line in expected if line not in found] == []


def test_the_layers_themselves_have_no_cycle() -> None:
    assert not list(_cycle(LAYERS))


def test_the_drawing_is_the_tree(tree: SourceTree) -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    assert text == updated(text, drawn(tree, LAYERS)), "run: python -m scripts.draw_architecture"


def _allowed(module: Module, other: Module) -> bool:
    if other.package != module.package and other.package not in BELOW[module.package]:
        return False
    if other.place == module.place or module.place in COMPOSERS:
        return True
    if other.package == module.package and other.is_vocabulary:
        return True
    return other.place in LAYERS.get(module.place, set())


def _owns(module: Module, library: str) -> bool:
    if library not in WEB:
        return module.folder in OWNER[library]
    web = module.package == "vncbridge" or module.folder in WEB_FOLDERS
    named = module.path.rpartition("/")[2] in ("http_errors.py",) or module.path.endswith("api.py")
    return web or named or module.folder in OWNER[library]


def _cycle(graph: dict[str, set[str]]) -> Iterator[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield " -> ".join(sorted(set(error.args[1])))


def _is_port(node: ast.ClassDef) -> bool:
    return any("Protocol" in ast.unparse(base) for base in node.bases)
