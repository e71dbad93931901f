"""An S3 service on loopback, as a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SERVER = """
import sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.read()
server.stop()
"""


@contextmanager
def s3_service() -> Iterator[dict[str, str]]:
    """Run it until the block ends; gives the environment of a client."""
    with subprocess.Popen(
        [sys.executable, "-c", _SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = process.stdout.readline().strip()
        assert port, "the S3 service did not start"
        try:
            yield {
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_ACCESS_KEY_ID": "name",
                "AWS_SECRET_ACCESS_KEY": "word",
            }
        finally:
            process.terminate()
