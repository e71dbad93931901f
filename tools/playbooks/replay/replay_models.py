"""The models of a control plane, and that of replays among them."""

from typing import Protocol

from deskhand.tools.agents.providers.model_table import PLAYBOOK
from deskhand.tools.agents.providers.port import Model, Role
from deskhand.tools.conversation.errors import NoModel
from deskhand.tools.playbooks.errors import PlaybookError

from .replay_model import PlaybookSource


class AvailableModels(Protocol):
    """The models of providers and scripts."""

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        """Return the full name of a model and the model."""


class ModelsWithReplays:
    """Resolves ``playbook:NAME`` to the model of replays, and other names as before."""

    def __init__(self, models: AvailableModels, playbooks: PlaybookSource, replay: Model) -> None:
        self._models = models
        self._playbooks = playbooks
        self._replay = replay

    def resolve(self, model: str | None, *, role: Role) -> tuple[str, Model]:
        """Return the full name of a model and the model; ``None`` selects the default one.

        Raises:
            NoModel: If the model is not available, or the playbook cannot be read.
        """
        if model is None or not model.startswith(PLAYBOOK):
            return self._models.resolve(model, role=role)
        try:
            self._playbooks.load(model.removeprefix(PLAYBOOK))
        except PlaybookError as error:
            raise NoModel(str(error)) from error
        return model, self._replay
