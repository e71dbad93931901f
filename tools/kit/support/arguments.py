"""The arguments of a call, as the fields of its tool read them."""

from abc import ABC, abstractmethod

from deskhand.desktop.errors import BadField

from .spec import Json, ToolContext, ToolOutcome, ToolSpec

INTENT = "model_intent"
"""Argument that any call may have: what it is for, shown to people."""


def read_arguments(spec: ToolSpec, arguments: Json) -> Json:
    """Return the arguments of a call as the fields of the tool read them.

    Raises:
        BadField: If one is unknown, missing or wrong.
    """
    if spec.fields is None:
        return arguments
    if isinstance(arguments, dict) and INTENT not in spec.fields.of:
        arguments = {name: value for name, value in arguments.items() if name != INTENT}
    return spec.fields.read(arguments)


def unusable(name: str, sentence: str) -> BadField:
    """Return the error for an argument; the sentence is for the model."""
    return BadField(name, sentence, f"{sentence}.")


class CheckedTool(ABC):
    """A tool that does nothing if an argument of the call is unknown, missing or wrong."""

    @property
    @abstractmethod
    def spec(self) -> ToolSpec:
        """Name, description and argument schema, as sent to a model."""

    async def call(self, arguments: Json, context: ToolContext) -> ToolOutcome:
        """Read the arguments and execute the call, or return what is wrong with them."""
        try:
            return await self.run(self.read(arguments), context)
        except BadField as error:
            return ToolOutcome(error=error.sentence)

    def read(self, arguments: Json) -> Json:
        """Return the arguments of a call as the fields of the tool read them.

        Raises:
            BadField: If one is unknown, missing or wrong.
        """
        return read_arguments(self.spec, arguments)

    @abstractmethod
    async def run(self, given: Json, context: ToolContext) -> ToolOutcome:
        """Execute the call; ``given`` has every field of the tool.

        Raises:
            BadField: If the arguments do not go together; nothing was done.
        """
