"""An S3 service on loopback, as a process of its own."""

import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SERVER = """
import logging
import sys
from moto.server import ThreadedMotoServer
logging.basicConfig(filename=sys.argv[1], format="%(message)s", level=logging.INFO)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=int(sys.argv[2]), verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


class S3Requests:
    """The requests that a service got, from its log."""

    def __init__(self, log: Path) -> None:
        self._log = log

    def of(self, method: str) -> list[str]:
        """Return the targets of all requests with a method, the first one first."""
        lines = self._log.read_text().splitlines()
        quoted = [line.split('"')[1].split() for line in lines if line.count('"') > 1]
        return [target for each, target, *_ in quoted if each == method]


@contextmanager
def s3_service(log: Path | None = None, port: int = 0) -> Iterator[dict[str, str]]:
    """Run it until the block ends; gives the environment of a client.

    It writes its requests to ``log``, for `S3Requests`.
    """
    with (
        tempfile.NamedTemporaryFile() as nowhere,
        subprocess.Popen(
            [sys.executable, "-c", _SERVER, str(log or nowhere.name), str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        found = process.stdout.readline().strip()
        assert found, "the S3 service did not start"
        try:
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{found}",
                "AWS_ACCESS_KEY_ID": "name",
                "AWS_SECRET_ACCESS_KEY": "word",
            }
        finally:
            process.terminate()


def make_bucket(environment: dict[str, str], name: str) -> None:
    """Make a bucket."""
    # An empty PUT makes a bucket; the service takes it from anybody.
    made = urllib.request.Request(f"{environment['AWS_ENDPOINT_URL']}/{name}", method="PUT")
    urllib.request.urlopen(made, timeout=20).close()
