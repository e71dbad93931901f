"""Route of the models that a task can be given to."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from deskhand.vncbridge.http.lazy_routes import LazyRouter


@dataclass(frozen=True)
class KnownModel:
    """A model of a provider."""

    model: str
    provider: str
    has_key: bool
    """True if a key of the provider is set."""


@dataclass(frozen=True)
class KnownScript:
    """A scripted model, which plays the same steps for every task."""

    model: str
    about: str
    """What it demonstrates; may be empty."""


@dataclass(frozen=True)
class ModelChoices:
    """The models of a control plane."""

    usual: str
    """The model of tasks that name none."""
    models: Sequence[KnownModel]
    scripts: Sequence[KnownScript]


def router(choices: Callable[[], ModelChoices]) -> APIRouter:
    """Return the route of ``/api/v0/models``."""
    routes = LazyRouter(prefix="/api/v0", tags=["chats"])

    @routes.get("/models")
    async def models() -> JSONResponse:
        """List the known models, which of them have a key, and the scripted models."""
        return JSONResponse(asdict(choices()))

    return routes
