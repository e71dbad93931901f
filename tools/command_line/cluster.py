"""The commands of a cluster, with their options: ``ca``, ``node``, ``nodes`` and ``place``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options import AsJson, DataDir, command_module

app = typer.Typer(
    no_args_is_help=True, help="Issue and revoke the certificates of control planes and nodes."
)
nodes = typer.Typer(help="List the nodes of a cluster, and drain them.")

Authority = Annotated[
    Path, typer.Option("--ca", help="Directory of the certificate authority.", metavar="DIR")
]
Name = Annotated[str, typer.Argument(help="Its name, of lower-case letters, digits and hyphens.")]
Out = Annotated[Path | None, typer.Option("--out", help="Where its files go; default: ROLE-NAME.")]
CA = Path("deskhand-ca")


@app.command("init")
def ca_init(ca: Authority = CA, as_json: AsJson = False) -> None:
    """Make a certificate authority."""
    raise typer.Exit(command_module("cluster.ca").init(ca, as_json))


@app.command("plane")
def ca_plane(name: Name, ca: Authority = CA, out: Out = None, as_json: AsJson = False) -> None:
    """Issue or renew the certificate of a control plane."""
    raise typer.Exit(command_module("cluster.ca").issue(ca, "plane", name, out, as_json))


@app.command("node")
def ca_node(name: Name, ca: Authority = CA, out: Out = None, as_json: AsJson = False) -> None:
    """Issue or renew the certificate of a node."""
    raise typer.Exit(command_module("cluster.ca").issue(ca, "node", name, out, as_json))


@app.command("revoke")
def ca_revoke(
    role: Annotated[Literal["plane", "node"], typer.Argument(help="plane or node")],
    name: Name,
    ca: Authority = CA,
    as_json: AsJson = False,
) -> None:
    """Revoke all certificates of a control plane or node."""
    raise typer.Exit(command_module("cluster.ca").revoke(ca, role, name, as_json))


@app.command("list")
def ca_list(ca: Authority = CA, as_json: AsJson = False) -> None:
    """List the certificates that were issued, with their ends."""
    raise typer.Exit(command_module("cluster.ca").listing(ca, as_json))


def node(
    name: Annotated[
        str | None, typer.Option(help="Its name; by default that of its certificate.")
    ] = None,
    listen: Annotated[
        str | None,
        typer.Option(help="Where control planes reach its gate.", metavar="HOST:PORT"),
    ] = None,
    certificates: Annotated[
        str | None, typer.Option(help="Directory that deskhand ca node has written.", metavar="DIR")
    ] = None,
    cluster: Annotated[
        str | None, typer.Option(help="Head of Ray, which reserves places.", metavar="HOST:PORT")
    ] = None,
    places: Annotated[int | None, typer.Option(help="Desktops at once.")] = None,
    public_listen: Annotated[
        str | None, typer.Option(help="Where it listens for viewers.", metavar="HOST:PORT")
    ] = None,
    public_url: Annotated[
        str | None, typer.Option(help="Where viewers reach it, as wss://HOST:PORT.")
    ] = None,
    tls_cert: Annotated[
        str | None, typer.Option(help="File with the certificate for viewers.", metavar="FILE")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option(help="File with its key (PEM).", metavar="FILE")
    ] = None,
    data_dir: DataDir = None,
    keep_desktops: Annotated[
        bool | None, typer.Option("--keep-desktops", help="Leave desktops running at the end.")
    ] = None,
    linger: Annotated[
        float,
        typer.Option(
            help="Seconds after the last request of a control plane at which its desktops end.",
            min=1.0,
            metavar="SECONDS",
        ),
    ] = 900.0,
    as_json: AsJson = False,
) -> None:
    """Serve the desktops of this host to the control planes of a cluster."""
    flags = {
        "listen": listen,
        "certificates": certificates,
        "cluster": cluster,
        "places": places,
        "public_listen": public_listen,
        "public_url": public_url,
        "tls_cert": tls_cert,
        "tls_key": tls_key,
        "data_dir": data_dir,
        "keep_desktops": keep_desktops,
    }
    raise typer.Exit(command_module("cluster.node").main(flags, name, linger, as_json))


Node = Annotated[str, typer.Argument(help="Name of the node.", metavar="NAME")]


@nodes.callback(invoke_without_command=True)
def nodes_list(context: typer.Context, as_json: AsJson = False) -> None:
    """List the nodes with their room, desktops, version, state and failures."""
    if context.invoked_subcommand is None:
        raise typer.Exit(command_module("cluster.nodes").listing(as_json))


@nodes.command("drain")
def nodes_drain(
    name: Node,
    wait: Annotated[
        bool, typer.Option("--wait", help="Return when no desktop is left on it.")
    ] = False,
) -> None:
    """Give a node no new desktops; those that it has run to their ends."""
    raise typer.Exit(command_module("cluster.nodes").drain(name, wait))


@nodes.command("undrain")
def nodes_undrain(name: Node) -> None:
    """Give a node desktops again."""
    raise typer.Exit(command_module("cluster.nodes").undrain(name))


def place() -> None:
    """Place desktops on nodes until the standard input ends; the control plane starts this."""
    raise typer.Exit(command_module("cluster.place").main())
