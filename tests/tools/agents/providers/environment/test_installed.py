import pytest

from deskhand.tools.agents.providers.environment.installed import has_client


@pytest.mark.parametrize(
    ("library", "installed"),
    [("anthropic", True), ("no_such_library", False), ("no_such_library.client", False)],
)
def test_a_client_is_found_without_an_import(library: str, installed: bool) -> None:
    assert has_client(library) is installed
