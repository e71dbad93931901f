"""A stdio MCP server of the standard library; its arguments select how it misbehaves.

hang: never answers. die: ends at the first call. slow: one byte at a time. noise: prints other text
first. child: leaves a process in a session of its own. big: a message without an end. modern: has
no handshake.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

MODES = set(sys.argv[1:])


def send(message: Json) -> None:
    text = json.dumps({"jsonrpc": "2.0", **message}) + "\n"
    if "slow" not in MODES:
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    for byte in text.encode():
        os.write(1, bytes([byte]))


def tools() -> Iterator[Json]:
    for name in ("echo", "environment", "fail", "picture"):
        yield {
            "name": name,
            "description": f"Tool {name}.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string"}},
                "required": ["text"],
            },
        }


def called(name: str, arguments: Json) -> Json:
    if name == "fail":
        return {"content": [{"type": "text", "text": "no"}], "isError": True}
    if name == "picture":
        return {"content": [{"type": "image", "data": "AAAA", "mimeType": "image/png"}]}
    text = arguments.get("text", "")
    if name == "environment":
        facts = {"value": os.environ.get(text), "cwd": str(Path.cwd()), "uid": os.getuid()}
        text = json.dumps({**facts, "pid": os.getpid(), "group": os.getpgrp()})
    return {"content": [{"type": "text", "text": text}]}


def answer(method: str, params: Json) -> Json:
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "notes", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": list(tools())}
    return called(params["name"], params.get("arguments") or {})


def reply(method: str, params: Json) -> Json:
    if "modern" not in MODES:
        return {"result": answer(method, params)}
    named = (params.get("_meta") or {}).get("io.modelcontextprotocol/protocolVersion")
    if named != "2026-07-28":
        versions = {"supported": ["2026-07-28"], "requested": str(named)}
        return {"error": {"code": -32022, "message": "old", "data": versions}}
    if method == "server/discover":
        facts = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        return {"result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **facts}}
    cached = {"ttlMs": 0, "cacheScope": "private"} if method == "tools/list" else {}
    return {"result": {"resultType": "complete", **cached, **answer(method, params)}}


def main() -> None:
    if "child" in MODES:
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
    if "noise" in MODES:
        print("Welcome to the notes.", flush=True)
    if "big" in MODES:
        while True:
            os.write(1, b"x" * 65_536)
    for line in sys.stdin:
        message = json.loads(line)
        if "hang" in MODES:
            time.sleep(1_000)
        if "die" in MODES and message.get("method") == "tools/call":
            sys.exit("notes: out of paper")
        if "id" in message and "method" in message:
            found = reply(message["method"], message.get("params") or {})
            send({"id": message["id"], **found})


main()
