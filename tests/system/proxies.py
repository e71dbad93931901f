"""Caddy and nginx with the configuration of ``deploy/proxy``, in front of a control plane."""

import socket
import ssl
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.system.certificates import ServerCertificate
from tests.system.services import PATIENCE, until

PROXIES = Path(__file__).parents[2] / "deploy" / "proxy"
HOST = "localhost"


@contextmanager
def caddy(folder: Path, port: int, plane: str, files: ServerCertificate) -> Iterator[None]:
    """Serve the second example of the Caddyfile, with a certificate of our own."""
    text = (PROXIES / "Caddyfile").read_text()
    site = text[text.index("\nexample.com {") :].replace("127.0.0.1:7777", plane)
    address = f"https://{HOST}:{port}"
    tls = f"{{\n\tbind 127.0.0.1\n\ttls {files.cert} {files.key}"
    site = site.replace("example.com {", f"{address} {tls}", 1)
    options = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n"
    config = folder / "Caddyfile"
    config.write_text(options + site)
    command = ["caddy", "run", "--config", str(config), "--adapter", "caddyfile"]
    with _running(folder, command, port, files):
        yield


@contextmanager
def nginx(folder: Path, port: int, plane: str, files: ServerCertificate) -> Iterator[None]:
    """Serve the example of nginx, with a certificate of our own."""
    text = (PROXIES / "nginx.conf").read_text().replace("127.0.0.1:7777", plane)
    text = text.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl")
    text = text.replace("server_name example.com", f"server_name {HOST}")
    text = text.replace("/etc/ssl/example.com.pem", str(files.cert))
    text = text.replace("/etc/ssl/private/example.com.key", str(files.key))
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    config = folder / "nginx.conf"
    config.write_text(
        f"daemon off;\npid {folder}/nginx.pid;\nuser root;\nerror_log {folder}/errors;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{paths}{text}}}\n"
    )
    command = ["nginx", "-p", str(folder), "-c", str(config), "-e", str(folder / "errors")]
    with _running(folder, command, port, files):
        yield


@contextmanager
def _running(
    folder: Path, command: list[str], port: int, files: ServerCertificate
) -> Iterator[None]:
    home = {"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    with (folder / "output").open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=home)
    try:
        until(lambda: process.poll() is not None or _answers(port, files), f"{command[0]} listens")
        assert process.poll() is None, (folder / "output").read_text()
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(port: int, files: ServerCertificate) -> bool:
    context = ssl.create_default_context(cafile=str(files.ca))
    try:
        with (
            socket.create_connection(("127.0.0.1", port), PATIENCE) as line,
            context.wrap_socket(line, server_hostname=HOST),
        ):
            return True
    except OSError:
        return False


Proxy = Callable[[Path, int, str, ServerCertificate], object]
