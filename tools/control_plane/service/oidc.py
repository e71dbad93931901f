"""The sign-in by an OpenID Connect provider, if the settings name one."""

import importlib

from fastapi import APIRouter

from deskhand.tools.control_plane.settings import BadSetting, Settings
from deskhand.tools.oidc.api import OidcRules, router
from deskhand.tools.oidc.claims import parse_roles
from deskhand.tools.oidc.used_sign_ins import UsedSignIns
from deskhand.tools.people.people import People
from deskhand.tools.store.database import Store
from deskhand.vncbridge.auth.credentials import Credentials

PROVIDER = "deskhand.tools.oidc.provider"


def oidc_routers(
    settings: Settings, store: Store, people: People, credentials: Credentials
) -> tuple[APIRouter, ...]:
    """Return the routes of the sign-in; none without a provider.

    Raises:
        BadSetting: If the library for it is not installed.
    """
    if not settings.oidc_issuer:
        return ()
    try:
        # An optional library, and 0.2 s that only this needs.
        module = importlib.import_module(PROVIDER)
    except ModuleNotFoundError as error:
        raise BadSetting("oidc_issuer", "needs authlib: pip install 'deskhand[oidc]'") from error
    provider = module.OidcProvider(
        settings.oidc_issuer, settings.oidc_client_id, settings.oidc_client_secret
    )
    roles = parse_roles(settings.oidc_roles)
    rules = OidcRules(roles, settings.oidc_groups, settings.public_url)
    return (router(provider, rules, people, credentials, UsedSignIns(store)),)
