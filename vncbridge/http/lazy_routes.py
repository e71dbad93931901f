"""Routes that FastAPI analyses at their first request, and not while the application is built.

The analysis of a route makes a validator of each of its parameters, of its body and of its answer.
It takes about a millisecond; a desktop has a hundred routes and serves a few of them, so all at
once they would take a quarter of the time until it is ready. A wrong annotation is found when the
OpenAPI document is made, which analyses all of them.
"""

from collections.abc import Callable, Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.params import Depends
from fastapi.routing import APIRoute
from starlette.routing import Match, compile_path
from starlette.types import Scope

_OF_PATH = ("path_regex", "path_format", "param_convertors")
_NOTHING = Match.NONE, dict[str, Any]()


class LazyRoute(APIRoute):
    """A route that is complete from its first request on.

    Until then it has a path, its methods and its endpoint; every other attribute completes it.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        self.path = path
        self.endpoint = endpoint
        self.methods = {method.upper() for method in options.get("methods") or ("GET",)}
        self._options: dict[str, Any] | None = options
        # Of a path with parameters, the text before the first one.
        self._begin, self._parameters, _ = path.partition("{")

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that has not been set yet."""
        if name in _OF_PATH:
            self.path_regex, self.path_format, self.param_convertors = compile_path(self.path)
        elif self._options is None or name.startswith("__"):
            raise AttributeError(name=name, obj=self)
        else:
            options, self._options = self._options, None
            super().__init__(self.path, self.endpoint, **options)
        return object.__getattribute__(self, name)

    def after(self, dependencies: Sequence[Depends]) -> "LazyRoute":
        """Return a route, not analysed yet, that first calls further dependencies."""
        if self._options is None:
            raise ValueError(f"{self.path} has been analysed")
        options = dict(self._options)
        options["dependencies"] = [*dependencies, *(options.get("dependencies") or ())]
        return type(self)(self.path, self.endpoint, **options)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Compare the path with that of a request, without parameters as texts."""
        path = scope.get("path", "")
        if not path.startswith(self._begin) or not (self._parameters or path == self._begin):
            return _NOTHING
        return super().matches(scope)


class LazyRouter(APIRouter):
    """A router of lazy routes."""

    def __init__(self, *, route_class: type[APIRoute] = LazyRoute, **options: Any) -> None:
        super().__init__(route_class=route_class, **options)
