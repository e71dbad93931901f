"""Errors of people.

PeopleError
├── NameTaken       there is a person with that name (409)
├── IdentityTaken   there is a person whom the provider knows so (409)
└── BadName         the name is not one for a person (400)
"""


class PeopleError(Exception):
    """A request about people that is refused."""


class NameTaken(PeopleError):
    """There is a person with that name, or one that differs only in case."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is a person with the name {name}.")


class IdentityTaken(PeopleError):
    """There is a person with that issuer and subject."""

    def __init__(self) -> None:
        super().__init__("This person was added already.")


class BadName(PeopleError):
    """The name is empty, too long, or has characters that do not print."""

    def __init__(self) -> None:
        super().__init__("A name has 1 to 60 characters that print.")
