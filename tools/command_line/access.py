"""The commands below ``deskhand secret`` and ``deskhand token``, with their options."""

from typing import Annotated, Any

import typer

from .options import AsJson, DataDir, Url, command_module, plane_selector

secrets = typer.Typer(
    no_args_is_help=True, help="Give agents secrets that they type and cannot read."
)
tokens = typer.Typer(no_args_is_help=True, help="Make, list and end tokens and share links.")


def _secrets() -> Any:
    return command_module("access.secrets")


def _tokens() -> Any:
    return command_module("access.tokens")


@secrets.command("set")
def set_secret(
    name: str,
    domains: Annotated[
        list[str] | None,
        typer.Option(
            "--domain", help="It is typed only into pages of it; repeatable.", metavar="DOMAIN"
        ),
    ] = None,
    anywhere: Annotated[
        bool, typer.Option("--anywhere", help="It may be typed into any application.")
    ] = False,
    any_field: Annotated[
        bool,
        typer.Option(
            "--any-field",
            help="With --domain: into any field of the pages, not only those of a sign-in.",
        ),
    ] = False,
    chats: Annotated[
        list[str] | None,
        typer.Option("--chat", help="Only this chat may type it; repeatable.", metavar="ID"),
    ] = None,
    without_execute: Annotated[
        bool, typer.Option("--without-execute", help="Only for chats that cannot run programs.")
    ] = False,
    totp: Annotated[
        bool,
        typer.Option(
            "--totp", help="Its value is an otpauth:// address, whose current code is typed."
        ),
    ] = False,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Store a secret; its value is read from a prompt, or from a pipe."""
    rules = {
        "domains": domains,
        "anywhere": anywhere,
        "any_field": any_field,
        "chats": chats,
        "without_execute": without_execute,
        "kind": "totp" if totp else None,
    }
    raise typer.Exit(_secrets().store(plane_selector(url, data_dir), name, rules, as_json))


@secrets.command("list")
def list_secrets(url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the names of the secrets and where they may be typed."""
    raise typer.Exit(_secrets().listing(plane_selector(url, data_dir), as_json))


@secrets.command("rm")
def remove_secret(
    name: str, url: Url = None, data_dir: DataDir = None, as_json: AsJson = False
) -> None:
    """Remove a secret; what was written stays masked."""
    raise typer.Exit(_secrets().remove(plane_selector(url, data_dir), name, as_json))


@tokens.command("new")
def new_token(
    scopes: Annotated[
        list[str],
        typer.Argument(
            help="admin, chat:ID, desktop:ID:view, desktop:ID:control or run:ID:view.",
            metavar="SCOPE...",
        ),
    ],
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    hours: Annotated[
        float | None, typer.Option(help="How long it works; by default without end.", min=0.01)
    ] = None,
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it, once."""
    where = plane_selector(url, data_dir)
    raise typer.Exit(_tokens().new(where, scopes, name, hours, as_json))


@tokens.command("list")
def list_tokens(url: Url = None, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """List the tokens and share links that work."""
    raise typer.Exit(_tokens().listing(plane_selector(url, data_dir), as_json))


@tokens.command("rm")
def remove_tokens(
    ids: Annotated[list[str], typer.Argument(help="As the list shows them.", metavar="ID...")],
    url: Url = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """End tokens, and every session that was opened with them."""
    raise typer.Exit(_tokens().remove(plane_selector(url, data_dir), ids, as_json))
