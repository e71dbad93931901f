"""A private PostgreSQL for tests, from the distribution's package, on a Unix socket.

With the option `--postgresql` of pytest, the tests that open a store use databases of one: `make
postgresql`.
"""

import asyncio
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from deskhand.tools.store.database import Store

BINARIES = Path("/usr/lib/postgresql")
OPTIONS = "-c listen_addresses= -c fsync=off -c synchronous_commit=off -c full_page_writes=off"


def binaries() -> Path | None:
    """Return the folder of the newest server's programs, None where the package is missing."""
    found = sorted(BINARIES.glob("*/bin/initdb"), key=lambda path: float(path.parts[-3]))
    return found[-1].parent if found else None


@dataclass(frozen=True)
class PostgresServer:
    """A server whose databases are copies of a pattern."""

    folder: Path
    programs: Path
    user: str | None
    """The user that it runs as: PostgreSQL refuses root."""
    numbers: "count[int]" = field(default_factory=count)
    places: dict[Path, str] = field(default_factory=dict)
    """The URLs of the databases that stand for files."""

    def at(self, path: Path) -> str:
        """Return the URL of the database that stands for a file; create the schema of a new one."""
        if path not in self.places:
            if not self.places:
                with ThreadPoolExecutor(1) as thread:
                    thread.submit(asyncio.run, self._make_pattern()).result()
            self.places[path] = self.database("pattern")
        return self.places[path]

    def database(self, template: str = "template0") -> str:
        """Create a database and return its URL."""
        name = f"d{next(self.numbers)}"
        self.sql(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return self.url(name)

    async def _make_pattern(self) -> None:
        self.sql("CREATE DATABASE pattern")
        async with await Store.open(self.url("pattern")):
            pass

    def url(self, name: str) -> str:
        return f"postgresql://tester@/{name}?host={self.folder}"

    def sql(self, statement: str) -> None:
        self._run("psql", "-h", str(self.folder), "-U", "tester", "-qc", statement, "postgres")

    def start(self) -> None:
        options = f"-k {self.folder} {OPTIONS}"
        log = str(self.folder / "log")
        self._run(
            "pg_ctl", "-D", str(self.folder / "data"), "-o", options, "-l", log, "-w", "start"
        )

    def start_again(self) -> None:
        """Start it, if a test has left it stopped."""
        try:
            self._run("pg_ctl", "-D", str(self.folder / "data"), "status")
        except subprocess.CalledProcessError:
            self.start()

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", mode, "-w", "stop")

    def create(self) -> None:
        data = str(self.folder / "data")
        self._run("initdb", "-A", "trust", "-U", "tester", "--no-sync", "-D", data)

    def _run(self, program: str, *arguments: str) -> None:
        # With a file for the output: the server keeps what it inherits open.
        with (self.folder / "output").open("ab") as output:
            subprocess.run(
                [str(self.programs / program), *arguments],
                check=True,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                user=self.user,
                cwd="/",
            )


class ChosenServer:
    """The server on which tests open their stores; None for SQLite."""

    server: PostgresServer | None = None


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """Run a server until the block ends."""
    programs = binaries()
    assert programs is not None, "install the package postgresql"
    user = "nobody" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="dhpg"))
    if user is not None:
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    server = PostgresServer(folder, programs, user)
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            # A test may have stopped it.
            with suppress(subprocess.CalledProcessError):
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
