import asyncio
import gc
import os
import signal
import time
import weakref
from collections.abc import Awaitable, Callable
from pathlib import Path
from uuid import uuid4

import pytest

from deskhand.desktop.processes.errors import NotRunning, StartFailed, UnknownProcess
from deskhand.desktop.processes.record import Record
from deskhand.desktop.processes.registry import ProcessSettings, Registry
from deskhand.desktop.processes.requests import OutputRequest, SignalRequest, StartRequest
from deskhand.desktop.processes.spawn import ResourceLimits
from deskhand.desktop.programs import process_tree as groups
from deskhand.desktop.tool_calls.caller import CallingChat
from deskhand.desktop.tool_calls.errors import CallRefused
from deskhand.desktop.tool_calls.identity import Identity
from tests.desktop.processes.service import LIMIT, FakeClock, FakeSurroundings

A, B = CallingChat(str(uuid4())), CallingChat(str(uuid4()))
SETTINGS = ProcessSettings(close_grace=0.2)

Scenario = Callable[[Registry], Awaitable[None]]


def play(home: Path, scenario: Scenario, settings: ProcessSettings = SETTINGS) -> FakeSurroundings:
    command_environment = FakeSurroundings(home)

    async def with_registry() -> None:
        async with asyncio.timeout(LIMIT), Registry(command_environment, settings) as registry:
            await scenario(registry)

    asyncio.run(with_registry())
    return command_environment


async def started(
    registry: Registry,
    command: str,
    chat: CallingChat | None = None,
    call: Identity | None = None,
    **more: object,
) -> Record:
    request = StartRequest(command, **more)  # type: ignore[arg-type]
    process_id, _ = await registry.start(request, chat, call)
    return registry.find(process_id, chat)


async def wait_for_output(record: Record, text: str) -> None:
    """Wait until a process has written a text."""
    seen = 0
    while text not in record.process.buffer.snapshot().text:
        assert record.running
        await record.process.wait_output(seen)
        seen = record.process.buffer.total


async def until(condition: Callable[[], bool]) -> None:
    """Let the loop run until something has happened; the scenario's limit ends it."""
    while not condition():  # noqa: ASYNC110 -- no event reports an expired timer
        await asyncio.sleep(0)


def family(mark: str) -> groups.Family:
    return groups.Family(markers=(f"MARK={mark}".encode(),))


def marked() -> tuple[str, tuple[tuple[str, str], ...]]:
    mark = str(uuid4())
    return mark, (("MARK", mark),)


def test_a_shell_has_exited_even_if_another_process_holds_its_output(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    async def scenario(registry: Registry) -> None:
        record = await started(registry, f"(read x < {fifo}; echo late) & echo early; exit 3")
        await record.process.wait_exit()
        assert record.process.exit
        assert record.process.exit.code == 3
        assert record.process.buffer.raw() == b"early\n"
        await asyncio.to_thread(fifo.write_text, "go\n")
        await record.process.wait_drained()
        assert record.process.buffer.raw() == b"early\nlate\n"

    play(tmp_path, scenario)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGSEGV"])
def test_the_signal_that_ended_a_process_is_named(name: str, tmp_path: Path) -> None:
    number = signal.Signals[name]

    async def scenario(registry: Registry) -> None:
        record = await started(registry, f"kill -{number.value} $$")
        await record.process.wait_exit()
        assert record.process.exit
        assert (record.process.exit.code, record.process.exit.signal) == (128 + number, name)

    play(tmp_path, scenario)


def test_stdout_and_stderr_come_in_order(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "echo 1; echo 2 >&2; echo 3; cat")
        await record.process.wait_exit()
        assert record.process.buffer.raw() == b"1\n2\n3\n"

    play(tmp_path, scenario)


def test_a_process_leads_its_own_session(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "read x", stdin=True)
        assert os.getsid(record.process.group) == record.process.group
        assert os.getpgid(record.process.group) == record.process.group

    play(tmp_path, scenario)


def test_the_close_ends_every_descendant(tmp_path: Path) -> None:
    mark, env = marked()

    async def scenario(registry: Registry) -> None:
        stubborn = tmp_path / "stubborn"
        stubborn.write_text("trap '' TERM\necho up\nwhile :; do sleep 100; done\n")
        record = await started(
            registry, f"setsid sh -c 'setsid sh {stubborn} & wait' & wait", env=env
        )
        await wait_for_output(record, "up")
        gone = await started(registry, "setsid sleep 1000 > /dev/null 2>&1 & exit 0", env=env)
        await gone.process.wait_exit()
        assert await asyncio.to_thread(groups.alive, family(mark))

    play(tmp_path, scenario)
    assert not groups.alive(family(mark))


def test_a_kill_reaches_what_left_the_group(tmp_path: Path) -> None:
    mark, env = marked()

    async def scenario(registry: Registry) -> None:
        record = await started(registry, "setsid sh -c 'echo up; exec sleep 1000' & wait", env=env)
        await wait_for_output(record, "up")
        await registry.signal(record, SignalRequest("kill"))
        await record.process.wait_exit()
        deadline = time.monotonic() + LIMIT
        assert await asyncio.to_thread(groups.wait_gone, family(mark), deadline, time.monotonic)
        with pytest.raises(NotRunning):
            await registry.signal(record, SignalRequest("kill"))

    play(tmp_path, scenario)


def test_a_terminate_that_is_ignored_can_become_a_kill(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "trap '' TERM; echo up; while :; do sleep 100; done")
        await wait_for_output(record, "up")
        await registry.signal(record, SignalRequest("terminate", escalate_after_ms=10))
        await record.process.wait_exit()
        assert record.process.exit
        assert record.process.exit.signal == "SIGKILL"

    play(tmp_path, scenario)


def test_an_interrupt_is_a_control_c(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(
            registry, "trap 'echo ouch; exit 5' INT; echo up; read x", stdin=True
        )
        await wait_for_output(record, "up")
        await registry.signal(record, SignalRequest("interrupt"))
        await record.process.wait_exit()
        assert record.process.buffer.raw() == b"up\nouch\n"

    play(tmp_path, scenario)


def test_a_process_outlives_the_caller_that_started_it(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        starting = asyncio.create_task(registry.start(StartRequest("echo hi; read x"), None))
        await asyncio.sleep(0)
        starting.cancel()
        await asyncio.gather(starting, return_exceptions=True)
        await until(lambda: bool(registry.listing(None).total))
        (record,) = registry.listing(None).records
        await record.process.wait_exit()
        assert record.process.buffer.raw() == b"hi\n"

    play(tmp_path, scenario)


def test_the_environment_is_base_then_request_then_chat(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(
            registry,
            'echo "$HOME $DESKHAND_CHAT_ID $CODER_CHAT_ID $OWN"',
            A,
            env=(("HOME", "/mine"), ("DESKHAND_CHAT_ID", "forged"), ("OWN", "1")),
        )
        await record.process.wait_exit()
        assert record.process.buffer.raw() == f"/mine {A.id} {A.id} 1\n".encode()

    # HOME is also where it would run, so the directory is given.
    play(tmp_path, scenario) if Path("/mine").is_dir() else _with_directory(tmp_path, scenario)


def _with_directory(home: Path, scenario: Scenario) -> None:
    command_environment = FakeSurroundings(home)
    command_environment.directory = home

    async def with_registry() -> None:
        async with asyncio.timeout(LIMIT), Registry(command_environment, SETTINGS) as registry:
            await scenario(registry)

    asyncio.run(with_registry())


def test_nothing_of_our_own_environment_is_inherited(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "env")
        await record.process.wait_exit()
        names = {line.split("=")[0] for line in record.process.buffer.raw().decode().splitlines()}
        assert names <= {"PATH", "HOME", "PWD", "DESKHAND_PROCESS", "_", "SHLVL"}

    play(tmp_path, scenario)


@pytest.mark.parametrize("workdir", ["absent", "file"])
def test_a_workdir_that_is_no_directory_is_an_error(workdir: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    async def scenario(registry: Registry) -> None:
        with pytest.raises(StartFailed, match=workdir):
            await started(registry, "true", workdir=str(tmp_path / workdir))

    play(tmp_path, scenario)


def test_a_machine_without_a_shell_is_an_error(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        with pytest.raises(StartFailed, match='"sh": executable file not found'):
            await started(registry, "true", env=(("PATH", str(tmp_path)),))

    play(tmp_path, scenario)


def test_the_workdir_is_the_asked_one_else_the_configured_one(tmp_path: Path) -> None:
    configured, asked = tmp_path / "configured", tmp_path / "asked"
    configured.mkdir()
    asked.mkdir()

    async def scenario(registry: Registry) -> None:
        assert (await started(registry, "true")).workdir == configured
        assert (await started(registry, "true", workdir=str(asked))).workdir == asked
        await asyncio.to_thread(configured.rmdir)
        assert (await started(registry, "true")).workdir == tmp_path

    command_environment = FakeSurroundings(tmp_path)
    command_environment.directory = configured

    async def with_registry() -> None:
        async with asyncio.timeout(LIMIT), Registry(command_environment, SETTINGS) as registry:
            await scenario(registry)

    asyncio.run(with_registry())


def test_a_chat_sees_only_its_own_processes_and_those_of_no_chat(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        mine, nobodys = await started(registry, "true", A), await started(registry, "true")
        assert registry.find(mine.id, None) is mine
        assert registry.find(nobodys.id, B) is nobodys
        with pytest.raises(UnknownProcess):
            registry.find(mine.id, B)
        assert registry.listing(A).records == (mine,)
        assert registry.listing(B).total == 0

    play(tmp_path, scenario)


def test_a_listing_has_pages_and_the_total_count(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        records = [await started(registry, "read x", stdin=True) for _ in range(5)]
        page = registry.listing(None, offset=1, limit=2)
        assert page.records == (records[3], records[2])
        assert page.total == 5

    play(tmp_path, scenario)


def test_names_are_made_unique(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        names = [(await started(registry, "true", name="web")).name for _ in range(3)]
        assert names == ["web", "web-2", "web-3"]
        assert (await started(registry, "true")).name == ""

    play(tmp_path, scenario)


def test_only_so_many_exited_processes_are_kept(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        living = await started(registry, "read x", stdin=True)
        records = []
        for _ in range(4):
            records.append(await started(registry, "true"))
            await records[-1].process.wait_exit()
        assert registry.listing(None).records == (living, records[3], records[2])

    play(tmp_path, scenario, ProcessSettings(keep_exited=2, close_grace=0.1))


def test_nothing_is_kept_of_what_was_crowded_out(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        first = await started(registry, "true")
        await first.process.wait_exit()
        left = weakref.ref(first.process)
        del first
        last = await started(registry, "true")
        await last.process.wait_exit()
        gc.collect()
        assert left() is None

    play(tmp_path, scenario, ProcessSettings(keep_exited=1, close_grace=0.1))


def test_an_exited_process_is_forgotten_in_time(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "true")
        await record.process.wait_exit()
        await until(lambda: not registry.listing(None).total)
        with pytest.raises(UnknownProcess):
            registry.find(record.id, None)

    play(tmp_path, scenario, ProcessSettings(keep_seconds=0.0, close_grace=0.1))


def test_a_server_left_behind_by_a_forgotten_process_can_go_on_writing(tmp_path: Path) -> None:
    fifo, proof = tmp_path / "fifo", tmp_path / "proof"
    os.mkfifo(fifo)

    async def scenario(registry: Registry) -> None:
        record = await started(registry, f"(read x < {fifo}; echo out && echo ok > {proof}) & :")
        await record.process.wait_exit()
        await until(lambda: not registry.listing(None).total)
        await asyncio.to_thread(fifo.write_text, "go\n")
        await record.process.wait_drained()
        assert proof.read_text() == "ok\n"

    play(tmp_path, scenario, ProcessSettings(keep_seconds=0.0, close_grace=0.1))


def test_a_wait_ends_with_output_with_the_exit_or_in_time(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "read x; echo $x", stdin=True, timeout_ms=1)
        await registry.wait(record, OutputRequest("exit", wait_ms=1))
        await registry.wait(record, OutputRequest("output", from_execute=True))
        assert record.running
        waiting = asyncio.create_task(registry.wait(record, OutputRequest("output", cursor=0)))
        assert await record.process.write(b"hello\n")
        await waiting
        assert record.process.buffer.raw() == b"hello\n"
        await registry.wait(record, OutputRequest("exit"))
        await registry.wait(record, OutputRequest())
        assert not record.running

    play(tmp_path, scenario)


def test_input_is_written_and_closed(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "wc -c", stdin=True)
        assert await record.process.write(b"x" * 300_000)
        record.process.close_input()
        await record.process.wait_exit()
        assert record.process.buffer.raw().strip() == b"300000"
        assert not await record.process.write(b"more")

    play(tmp_path, scenario)


def test_input_that_no_process_reads_is_an_error(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "exec <&-; echo up; sleep 1000", stdin=True)
        await wait_for_output(record, "up")
        assert not await record.process.write(b"x" * 300_000)

    play(tmp_path, scenario)


def test_a_failed_start_of_a_call_is_reported_again(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        for _ in range(2):
            with pytest.raises(StartFailed):
                await started(registry, "true", A, Identity(A.id, "c"), workdir="/absent")
        assert isinstance(await registry.cancel(Identity(A.id, "c")), StartFailed)

    play(tmp_path, scenario)


def test_a_call_that_an_earlier_service_may_have_run_is_refused(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        with pytest.raises(CallRefused, match="restarted") as refused:
            await started(registry, "true", A, Identity(A.id, "c", age_ms=60_000))
        assert refused.value.code == "agent_started_after_tool_call"
        assert registry.listing(None).total == 0

    play(tmp_path, scenario)


def test_a_repeated_call_attaches_whatever_its_age(tmp_path: Path) -> None:
    clock = FakeClock()

    async def scenario() -> None:
        command_environment = FakeSurroundings(tmp_path)
        async with (
            asyncio.timeout(LIMIT),
            Registry(command_environment, SETTINGS, clock) as registry,
        ):
            request = StartRequest("true")
            first, again = Identity(A.id, "c"), Identity(A.id, "c", age_ms=50)
            process_id, fresh = await registry.start(request, A, first)
            assert fresh
            assert await registry.start(request, A, again) == (process_id, False)
            clock.ahead = 3.0
            assert (await registry.start(request, A, Identity(A.id, "d", age_ms=50)))[1]

    asyncio.run(scenario())


def test_no_request_waits_longer_than_is_set(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "sleep 1000")
        await registry.wait(record, OutputRequest("exit"))
        assert record.running

    play(tmp_path, scenario, ProcessSettings(close_grace=0.1, longest_wait=0.01))


def test_a_process_that_lives_longer_than_its_call_is_remembered_is_not_replaced(
    tmp_path: Path,
) -> None:
    clock = FakeClock()

    async def scenario() -> None:
        command_environment = FakeSurroundings(tmp_path)
        async with (
            asyncio.timeout(LIMIT),
            Registry(command_environment, SETTINGS, clock) as registry,
        ):
            call = Identity(A.id, "c")
            record = await started(registry, "sleep 1000", A, call)
            clock.ahead = 3_700.0
            with pytest.raises(StartFailed, match="of this id already"):
                await started(registry, "sleep 1000", A, call)
            assert registry.find(record.id, A) is record

    asyncio.run(scenario())


def test_a_hundred_processes_at_once_do_not_hold_up_the_loop(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        starts = (started(registry, f"echo {number}") for number in range(100))
        records = await asyncio.gather(*starts)
        await asyncio.gather(*(record.process.wait_exit() for record in records))
        assert {int(r.process.buffer.raw()) for r in records} == set(range(100))

    play(tmp_path, scenario)


def test_limits_are_set_from_outside(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        command = "read x; ulimit -n; nice; cat /proc/self/oom_score_adj"
        record = await started(registry, command, stdin=True)
        await record.process.write(b"\n")
        await record.process.wait_exit()
        assert record.process.buffer.raw().split() == [b"64", b"3", b"700"]

    limits = ResourceLimits(oom_score_adj=700, nice=3, open_files=64)
    play(tmp_path, scenario, ProcessSettings(close_grace=0.1, limits=limits))


def test_after_the_close_nothing_starts_and_all_can_be_read(tmp_path: Path) -> None:
    async def scenario(registry: Registry) -> None:
        record = await started(registry, "echo hi; read x; sleep 1000", stdin=True)
        await wait_for_output(record, "hi")
        await registry.close()
        await registry.close()
        with pytest.raises(StartFailed, match="manager is closed"):
            await started(registry, "true")
        assert registry.find(record.id, None).process.buffer.raw() == b"hi\n"
        assert not record.running

    play(tmp_path, scenario)
