"""The rule that no other machine reaches the control plane without TLS by accident. Pure."""

import ipaddress

from deskhand.vncbridge.server.loopback import is_loopback

from .errors import InvalidRemoteAccess


def local_host(host: str) -> str:
    """Return the address at which programs of this machine reach a listening one."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if not found.is_unspecified:
        return host
    return "127.0.0.1" if found.version == 4 else "::1"


def check_exposure(host: str, *, tls: bool, insecure: bool) -> None:
    """Refuse to listen for other machines without TLS; ``host`` is empty for a unix socket.

    Raises:
        InvalidRemoteAccess: If that was not requested explicitly.
    """
    if not host or is_loopback(host) or tls or insecure:
        return
    raise InvalidRemoteAccess(
        "listen",
        f"{host} is open to other machines, and tokens and screens would cross the network "
        "unencrypted; give --tls-cert and --tls-key, or listen on 127.0.0.1 behind a TLS proxy, "
        "or give --insecure",
    )


def check_certificate_files(cert: str, key: str) -> None:
    """Check that both files are named, or none.

    Raises:
        InvalidRemoteAccess: If only one is.
    """
    if bool(cert) != bool(key):
        missing = "tls_key" if cert else "tls_cert"
        raise InvalidRemoteAccess(missing, "tls_cert and tls_key are given together, or not at all")


def ssh_forward(connection: str, user: str, host: str, port: int) -> str | None:
    """Return the command that forwards a port over SSH, or ``None`` if it is not needed.

    ``connection`` is the variable ``SSH_CONNECTION`` (ssh(1)): addresses and ports of the client
    and the server. ``host`` is the address that the control plane listens on.
    """
    parts = connection.split()
    if len(parts) != 4 or not is_loopback(host):
        return None
    server, server_port = parts[2], parts[3]
    at = "" if server_port == "22" else f"-p {server_port} "
    target = f"[{host}]" if ":" in host else host
    return f"ssh -N -L {port}:{target}:{port} {at}{user}@{server}"
