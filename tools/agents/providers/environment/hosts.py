"""Answers of the providers' hosts, asked for through the proxy of the environment."""

import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from deskhand.tools.agents.providers.provider_table import ModelAccount

TIMEOUT = 4.0


@dataclass(frozen=True)
class HostAnswer:
    """Outcome of one request to a host."""

    host: str
    problem: str | None = None
    """Why there was no answer; a refusal is one too."""


def ask_hosts(accounts: Mapping[str, ModelAccount]) -> list[HostAnswer]:
    """Ask the hosts of all accounts at once, each for a few seconds at most."""
    if not accounts:
        return []
    with ThreadPoolExecutor(len(accounts)) as pool:
        return list(pool.map(_asked, accounts.values()))


def _asked(account: ModelAccount) -> HostAnswer:
    return HostAnswer(account.host, _problem(account.base_url or f"https://{account.host}/"))


def _problem(url: str) -> str | None:
    try:
        urllib.request.urlopen(url, timeout=TIMEOUT).close()  # noqa: S310 - http or https
    except urllib.error.HTTPError:
        return None
    except urllib.error.URLError as error:
        return str(error.reason)
    except (OSError, ValueError) as error:
        return str(error)
    return None
