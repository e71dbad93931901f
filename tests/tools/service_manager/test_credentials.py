from pathlib import Path

from deskhand.tools.service_manager.credentials import (
    DIRECTORY,
    credential_variables,
    forget_secrets,
)


def test_a_credential_with_the_name_of_a_variable_gives_its_value(tmp_path: Path) -> None:
    (tmp_path / "ANTHROPIC_API_KEY").write_text("key\n")
    (tmp_path / "OPENAI_API_KEY").write_text("other")
    (tmp_path / "deskhand-secrets").write_bytes(b"\xff")
    environment = {DIRECTORY: str(tmp_path), "OPENAI_API_KEY": "precedes"}
    assert credential_variables(environment) == {"ANTHROPIC_API_KEY": "key"}


def test_outside_of_a_unit_there_are_none(tmp_path: Path) -> None:
    assert credential_variables({}) == {}
    assert credential_variables({DIRECTORY: str(tmp_path / "none")}) == {}


def test_variables_with_secrets_are_removed_and_no_others() -> None:
    kept = {
        "PATH": "/bin",
        "HOME": "/root",
        "DESKHAND_LISTEN": "x:1",
        "HTTPS_PROXY": "p",
        "TZ": "UTC",
    }
    secrets = (
        *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
        *("DESKHAND_OPENAI_API_KEY", "DESKHAND_TOKEN", "DESKHAND_DATABASE"),
        *("DESKHAND_NOTIFY_SECRET", "DESKHAND_OIDC_CLIENT_SECRET"),
        *("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    )
    environment = kept | dict.fromkeys(secrets, "x")
    forget_secrets(environment)
    assert environment == kept
