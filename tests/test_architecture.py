"""The dependency rules of ARCHITECTURE.md, checked."""

import ast
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = {"desktop", "recording", "vncbridge", "tools"}

EDGE = {"vncbridge.border", "vncbridge.credentials", "vncbridge.errors", "vncbridge.gate"} | {
    "vncbridge.accesslog",
    "vncbridge.docs",
    "vncbridge.logs",
    "vncbridge.scopes",
    "vncbridge.tokens_api",
    "vncbridge.serving",
    "vncbridge.unseen",
    "vncbridge.viewer",
    "vncbridge.pump",
}
"""What both services share at the edge to the network."""

MAY_USE: dict[str, set[str]] = {
    "desktop.process": {"vncbridge.errors", "vncbridge.serving"},
    "desktop.attachment": EDGE
    | {"vncbridge.idleness"}
    | {"recording.api", "recording.catalogue", "recording.recorder"}
    | {"tools.processes.api", "tools.processes.registry", "tools.processes.streams"}
    | {"tools.processes.cgroups", "tools.processes.hierarchy"}
    | {"tools.files.api", "tools.files.roots", "tools.files.watching"},
    "desktop.commands": {"tools.processes.hierarchy", "tools.processes.registry"}
    | {"tools.processes.spawn"},
    "desktop.footage": {"recording.errors", "recording.shots"},
    "desktop.minutes": {"recording.steps"},
    "desktop.notebook": {"recording.steps"},
    "desktop.launching": {"tools.processes.chat", "tools.processes.errors"}
    | {"tools.processes.registry", "tools.processes.requests"},
    "desktop.service": EDGE
    | {"vncbridge.idleness", "vncbridge.relay", "vncbridge.seats"}
    | {"recording.api", "recording.catalogue", "recording.recorder"}
    | {"tools.processes.api", "tools.processes.registry"}
    | {"tools.processes.cgroups", "tools.processes.hierarchy"}
    | {"tools.files.api", "tools.files.roots", "tools.files.watching", "tools.processes.streams"}
    | {"tools.git.api", "tools.git.paths", "tools.git.repositories", "tools.git.watcher"}
    | {"tools.git.askpass", "tools.git.attribution", "tools.git.attribution_api"}
    | {"tools.git.credentials", "tools.git.errors"},
    "tools.fleet.fleet": {"desktop.client", "desktop.errors", "desktop.keeper", "desktop.launch"},
    "tools.fleet.machine": {"desktop.client", "desktop.errors"},
    "tools.fleet.machines": {"desktop.errors"},
    "tools.accepted": {"vncbridge.credentials", "vncbridge.gate"},
    "tools.plane.elsewhere": {"recording.ranges"},
    "tools.plane.films": {"recording.errors"},
    "tools.plane.files_api": {"recording.media"},
    "tools.plane.recordings_api": {"recording.media", "recording.steps"},
    "tools.store.vault": {"desktop.disguise", "desktop.errors", "desktop.hosts"},
    "tools.wiring": EDGE | {"desktop.folder"},
    "tools.plane.*": EDGE | {"desktop.client", "desktop.errors"},
    "tools.demo.*": {"vncbridge.serving"},
    "tools.agents.scripted.server": {"vncbridge.serving"},
    "tools.agents.turns": {"vncbridge.logs"},
    "tools.commands.*": EDGE
    | {"desktop.client", "desktop.errors", "desktop.launch", "desktop.remote", "desktop.results"},
}
"""The only modules that may import another of our packages, and which modules of it."""

ALONE = ("tools.processes", "tools.files")
"""They run inside the desktop service, so they know nothing else of ``tools``."""

OWNER: dict[str, set[str]] = {
    "xcffib": {"desktop.focus", "desktop.framebuffer", "desktop.input", "desktop.listener"}
    | {"desktop.grabber"}
    | {"desktop.ewmh", "desktop.windows", "desktop.windowwatch", "desktop.clipboard"}
    | {"desktop.selection"}
    | {"desktop.xconnection"},
    "av": {"desktop.pictures", "recording.canvas", "recording.clips", "recording.container"}
    | {"recording.encoder", "recording.exposure", "recording.reel"},
    "PIL": {"desktop.card", "desktop.pictures", "recording.reel", "recording.stills"}
    | {"tools.agents.scripted.decode"},
    "jeepney": {"desktop.accessibility", "desktop.atspi", "desktop.fieldwatch", "desktop.webpage"},
    "mss": {"desktop.portable"},
    "pyautogui": {"desktop.portable"},
    "isal": {"desktop.pictures"},
    "websockets": {"desktop.client", "vncbridge.protocol", "vncbridge.pump"}
    | {"tools.plane.ports", "tools.plane.passthrough"},
    "uvicorn": {
        "vncbridge.heads",
        "vncbridge.protocol",
        "vncbridge.serving",
        "tools.agents.scripted.server",
    },
    "anthropic": {"tools.agents.providers.anthropic"},
    "alembic": {"tools.store.database", "tools.store.migrations.env"}
    | {"tools.store.migrations.versions.0001_create_the_first_tables"},
    "obstore": {"tools.store.bucket"},
    "structlog": {"vncbridge.logs"},
    "typer": {"tools.cli"},
}
"""Each library that touches the world is imported by a short list of modules."""

WORLD = {"asyncio", "fcntl", "http", "os", "random", "secrets", "select", "shutil", "signal"} | {
    *("socket", "sqlite3", "subprocess", "tempfile", "threading", "time", "urllib.request"),
    *("httpx2", "fastapi", "starlette", "sqlalchemy", "psutil", *OWNER),
}
"""Cores import none of these: no files, sockets, clocks, processes, chance."""

CORES = {
    name
    for package, modules in {
        "desktop": "errors geometry frames strokes views actions requests fields plan keys keysyms"
        " settle changes keymap png environment snapshots outcomes schema lease journal calls"
        " backoff desktopentry ready etags query"
        " results portablekeys nodes minutes metrics disguise hosts passwords",
        "recording": "errors settings shots change timeline budget table steps thumbnail parts"
        " boxes presence ranges pace",
        "vncbridge": "description errors gate rfb roles scopes",
        "tools": "models",
        "tools.store": "retention",
        "tools.kit": "spec ampersand arguments computer_calls duration output",
        "tools.processes": "errors headtail hierarchy requests chat calls schema identity",
        "tools.files": "errors lines match edits endings diff hints indent requests splice"
        " conditions notices schema search",
        "tools.git": "credentials errors prompts states",
        "tools.agents": "conversation views errors states report history budget prompts titles"
        " watchdog",
        "tools.agents.providers": "anthropic_stream anthropic_wire errors port",
        "tools.agents.scripted": "script player protocol vision sse",
        "tools.plane": "bodies callers errors etags eventstream passage reels safety videos",
        "tools.fleet": "errors",
    }.items()
    for name in (f"{package}.{module}" for module in modules.split())
}


def sources() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.glob("*/**/*.py")):
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        name = dotted.removesuffix(".__init__")
        if name.partition(".")[0] in PACKAGES:
            yield name, path


def imports(name: str, path: Path) -> Iterator[str]:
    """Yield the absolute names of the modules that the module imports."""
    parts = name.split(".") + (["__init__"] if path.name == "__init__.py" else [])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.removeprefix("deskhand.") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = [*parts[: -node.level]] if node.level else []
            module = ".".join([*base, node.module] if node.module else base)
            assert node.level or module.partition(".")[0] not in PACKAGES, f"bare {module}"
            module = module.removeprefix("deskhand.")
            inner = [f"{module}.{alias.name}" for alias in node.names]
            found = [one for one in inner if one in MODULES]
            yield from found or [module]


MODULES = {name for name, _ in sources()}
PATHS = dict(sources())
GRAPH = {name: set(imports(name, path)) for name, path in PATHS.items()}


def allowed(name: str) -> set[str]:
    package = name.rpartition(".")[0]
    return MAY_USE.get(name, MAY_USE.get(f"{package}.*", set()))


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_packages_meet_only_where_they_may(name: str) -> None:
    own = name.partition(".")[0]
    others = {used for used in GRAPH[name] if used.partition(".")[0] in PACKAGES - {own}}
    assert others <= allowed(name), f"{name} imports {sorted(others - allowed(name))}"


@pytest.mark.parametrize("package", ALONE)
def test_what_runs_in_the_desktop_service_knows_nothing_else_of_tools(package: str) -> None:
    for name, used in GRAPH.items():
        if name.startswith(package):
            strangers = {u for u in used if u.startswith("tools.") and not u.startswith(package)}
            assert not strangers, f"{name} imports {strangers}"


def test_nobody_imports_the_desktop_service() -> None:
    users = {name for name, used in GRAPH.items() if "desktop.service" in used}
    assert users == {"desktop.process"}


@pytest.mark.parametrize("library", sorted(OWNER))
def test_each_outside_library_has_its_owners(library: str) -> None:
    users = {n for n, used in GRAPH.items() if library in {u.partition(".")[0] for u in used}}
    assert users <= OWNER[library], f"{sorted(users - OWNER[library])} import {library}"


@pytest.mark.parametrize("name", sorted(CORES))
def test_cores_do_not_touch_the_world(name: str) -> None:
    assert name in GRAPH, f"{name} is listed as a core and does not exist"
    used = GRAPH[name]
    world = {u for u in used if u in WORLD or u.partition(".")[0] in WORLD}
    ours = {u for u in used if u.partition(".")[0] in PACKAGES}
    assert not world, f"{name} imports {sorted(world)}"
    assert ours <= CORES, f"{name} imports {sorted(ours - CORES)}"


def test_there_is_no_import_cycle() -> None:
    inner = {name: used & set(GRAPH) - {name} for name, used in GRAPH.items()}
    TopologicalSorter(inner).prepare()


@pytest.mark.parametrize("package", sorted(n for n, p in PATHS.items() if p.name == "__init__.py"))
def test_a_package_says_in_one_line_what_it_is(package: str) -> None:
    body = ast.parse(PATHS[package].read_text()).body
    assert len(body) == 1
    assert ast.get_docstring(ast.Module(body, [])), f"{package} has no docstring"


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_modules_stay_short_and_import_at_the_top(name: str) -> None:
    text = PATHS[name].read_text()
    assert len(text.splitlines()) <= 400, f"{name} is too long"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inside = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
            assert not inside, f"{name}.{node.name} imports inside a function"


@pytest.mark.parametrize("name", sorted(CORES))
def test_every_core_has_its_own_test_file(name: str) -> None:
    path = PATHS[name].relative_to(ROOT)
    mirror = ROOT / "tests" / path.with_name(f"test_{path.name}")
    # Values and sentences without a decision in them are tested by their users.
    values = {"desktop.frames", "desktop.strokes", "tools.kit.spec"}
    told = name in values or name.endswith((".errors", ".port"))
    assert mirror.exists() or told, f"{path} has no {mirror.relative_to(ROOT)}"
