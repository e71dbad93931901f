"""Errors of the sign-in by a provider.

OidcError
├── ProviderFailed   the provider does not answer, or with something else (502)
├── SignInRefused    the sign-in is not one that this browser began, or it has ended (403)
└── NoRole           no group of the person has a role (403)
"""


class OidcError(Exception):
    """A sign-in by a provider that is refused."""


class ProviderFailed(OidcError):
    """The provider does not answer, or its answer cannot be used."""


class SignInRefused(OidcError):
    """The answer belongs to no sign-in of this browser, or proves nothing."""


class NoRole(OidcError):
    """No group of the person has a role here."""
