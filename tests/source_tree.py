"""A source tree as the architecture test sees it: modules, folders and imports, read as text."""

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PACKAGES = ("desktop", "recording", "tools", "vncbridge")
PREFIX = "deskhand."

INTERFACES = {
    *("desktop/__main__.py", "desktop/http_errors.py"),
    *("desktop/remote.py", "desktop/remote_sync.py"),
}
"""Modules in the root of a package that are no vocabulary: places of their own in the layers."""

NO_DECISIONS = {"__init__.py", "errors.py", "port.py", "ports.py"}
"""Files that may do without tests of their own, if they are pure."""

_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of statements that hold statements."""


@dataclass(frozen=True)
class Import:
    """One module that another imports."""

    name: str
    """Dotted name, without the prefix if it is one of ours."""
    level: int
    """How many folders a relative import goes up, plus one; 0 for an absolute one."""
    ours: bool
    inner: bool
    """Whether it stands inside a function."""


@dataclass(frozen=True)
class Module:
    """One file. Its name is dotted and has no prefix."""

    name: str
    path: str
    text: str

    @property
    def folder(self) -> str:
        """The folder it is in, as a path."""
        return self.path.rpartition("/")[0]

    @property
    def place(self) -> str:
        """What the layers call it: its folder, or its path if it is an interface."""
        return self.path if self.path in INTERFACES else self.folder

    @property
    def package(self) -> str:
        """The top-level folder it is in."""
        return self.path.partition("/")[0]

    @property
    def is_vocabulary(self) -> bool:
        """Whether every folder of its package may import it."""
        in_root = self.folder == self.package and self.path not in INTERFACES
        return in_root or self.name.endswith(".errors")

    @property
    def own_tests(self) -> str:
        """Path of the test file that mirrors it."""
        folder, _, file = self.path.rpartition("/")
        return f"tests/{folder}/test_{file}"

    def needs_own_tests(self, values: Collection[str]) -> bool:
        """Return whether it decides anything: no errors, no ports, none of ``values``."""
        file = self.path.rpartition("/")[2]
        return file not in NO_DECISIONS and self.name not in values

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed text."""
        return ast.parse(self.text)


class SourceTree:
    """The modules of our packages, by name."""

    def __init__(self, files: Mapping[str, str]) -> None:
        """Take texts by path below the root of the repository."""
        found = [Module(_dotted(path), path, text) for path, text in sorted(files.items())]
        self.modules = {module.name: module for module in found}
        self.paths = set(files)

    @classmethod
    def at(cls, root: Path) -> "SourceTree":
        """Read the packages below ``root``."""
        return cls(
            {
                path.relative_to(root).as_posix(): path.read_text()
                for package in PACKAGES
                for path in (root / package).rglob("*.py")
            }
        )

    @classmethod
    def from_example(cls, text: str) -> "SourceTree":
        """Read files from one text, each after a line ``=== PATH``."""
        parts = text.split("=== ")[1:]
        return cls({path: body for path, _, body in (part.partition("\n") for part in parts)})

    @cached_property
    def imports(self) -> dict[str, list[Import]]:
        """What each module imports, wherever in it."""
        return {name: list(self._imports(module)) for name, module in self.modules.items()}

    @cached_property
    def graph(self) -> dict[str, set[str]]:
        """The modules of ours that each module imports."""
        return {
            name: {one.name for one in used if one.name in self.modules} - {name}
            for name, used in self.imports.items()
        }

    @property
    def folders(self) -> dict[str, list[Module]]:
        """Modules by folder, package files left out."""
        found: dict[str, list[Module]] = {}
        for module in self.modules.values():
            if not module.path.endswith("__init__.py"):
                found.setdefault(module.folder, []).append(module)
        return found

    def reached(self, name: str) -> set[str]:
        """Return the names of all that a module imports, itself or through others of ours."""
        seen: set[str] = set()
        todo = [name]
        while todo:
            for one in self.imports[todo.pop()]:
                if one.name not in seen:
                    seen.add(one.name)
                    todo += [one.name] if one.name in self.modules else []
        return seen

    def world(self, name: str, world: Collection[str]) -> set[str]:
        """Return what of ``world`` a module reaches."""
        reached = self.reached(name)
        return {one for one in reached if one in world or one.partition(".")[0] in world}

    def pure(self, world: Collection[str]) -> list[Module]:
        """Return the modules that reach nothing of ``world``."""
        return [module for name, module in self.modules.items() if not self.world(name, world)]

    def _imports(self, module: Module) -> Iterator[Import]:
        for node, inner in _statements(module.tree.body, inner=False):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    yield self._import(alias.name, 0, inner)
            elif isinstance(node, ast.ImportFrom):
                base = self._base(module, node)
                for alias in node.names:
                    whole = f"{base}.{alias.name}"
                    name = whole if whole.removeprefix(PREFIX) in self.modules else base
                    yield self._import(name, node.level, inner)

    def _import(self, name: str, level: int, inner: bool) -> Import:
        ours = level > 0 or name.startswith(PREFIX)
        return Import(name.removeprefix(PREFIX) if ours else name, level, ours, inner)

    def _base(self, module: Module, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = module.name.split(".")
        if not module.path.endswith("__init__.py"):
            parts = parts[:-1]
        parts = parts[: len(parts) - (node.level - 1)]
        return ".".join([*parts, node.module] if node.module else parts)


def _dotted(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _statements(body: Iterable[ast.AST], *, inner: bool) -> Iterator[tuple[ast.AST, bool]]:
    """Yield each statement, and whether it is inside of a function; expressions are left out."""
    for node in body:
        yield node, inner
        within = inner or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in _BLOCKS:
            yield from _statements(getattr(node, name, ()), inner=within)
