from deskhand.desktop.freeze.selection import Origins, ProcessFacts, is_browser, selection

UID = 1001
CHROMIUM = "/usr/lib/chromium/chromium"
PROFILE = "--user-data-dir=/d/browser"
ORIGINS = Origins(
    UID,
    service=frozenset({10, 11, 12}),
    bus=frozenset({13}),
    launchers=frozenset({11, 12}),
    applications=frozenset({20}),
    browser_argument=PROFILE,
)


def process(
    pid: int, parent: int, program: str | None = "/usr/bin/sh", *arguments: str, uid: int = UID
) -> ProcessFacts:
    name = "hidden" if program is None else program.rpartition("/")[2]
    return ProcessFacts(pid, parent, uid, name, 100, False, program, arguments)


def stopped(*table: ProcessFacts) -> list[int]:
    return [one.pid for one in selection(table, ORIGINS).stop]


def test_commands_are_stopped_with_all_that_they_started_parents_first() -> None:
    assert stopped(process(7, 30), process(30, 1), process(31, 30)) == [30, 7, 31]


def test_what_the_desktop_needs_goes_on() -> None:
    assert stopped(process(10, 1), process(11, 1), process(12, 1), process(13, 1)) == []


def test_children_of_the_service_itself_are_stopped() -> None:
    assert stopped(process(10, 1), process(30, 10, "/usr/bin/git")) == [30]


def test_helpers_of_a_fork_server_go_on_and_what_they_run_is_stopped() -> None:
    table = (process(70, 1), process(71, 70), process(72, 71, "/usr/bin/git"))
    plan = selection(table, Origins(UID, fork_servers=frozenset({70})))
    assert [one.pid for one in plan.stop] == [72]


def test_the_bus_keeps_the_programs_of_at_spi_and_no_other_that_it_started() -> None:
    launcher = process(40, 13, "/usr/libexec/at-spi-bus-launcher")
    bus = process(41, 40, "/usr/bin/dbus-daemon")
    registry = process(42, 41, "/usr/libexec/at-spi2-registryd")
    activated = process(43, 13, "/usr/bin/python3.11")
    assert stopped(process(13, 1), launcher, bus, registry, activated) == [43]
    # The launcher forks twice, and init or the keeper adopts the second bus.
    assert stopped(bus._replace(parent=1)) == []
    assert stopped(process(1, 0, uid=0), bus._replace(parent=1)) == []
    assert stopped(process(30, 1), bus._replace(parent=30)) == [30, 41]


def test_beside_a_bus_of_the_service_nothing_is_known_by_its_program() -> None:
    table = [process(41, 1, "/usr/bin/dbus-daemon"), process(42, 1, "/usr/bin/env")]
    table.append(process(43, 41, "/usr/libexec/at-spi2-registryd"))
    found = selection(table, ORIGINS._replace(bus=frozenset()))
    assert [one.pid for one in found.stop] == [41, 42, 43]


def test_applications_go_on_and_programs_in_them_are_stopped() -> None:
    terminal, shell = process(20, 10, "/usr/bin/xterm"), process(21, 20, "/usr/bin/bash")
    second = process(22, 20, "/usr/bin/xterm")
    assert stopped(process(10, 1), terminal, shell, second) == [21, 22]


def test_the_shell_of_an_application_that_was_launched_does_not_count() -> None:
    shell, terminal = process(20, 10, "/usr/bin/dash"), process(22, 20, "/usr/bin/xterm")
    assert stopped(process(10, 1), shell, terminal, process(23, 22, "/usr/bin/dash")) == [23]


def test_children_of_window_manager_and_panel_are_applications() -> None:
    table = (process(12, 1), process(50, 12, "/usr/bin/xterm"), process(51, 50, "/usr/bin/bash"))
    assert stopped(*table) == [51]


def test_a_browser_goes_on_with_its_own_processes_and_no_other() -> None:
    browser = process(60, 1, CHROMIUM, f"{CHROMIUM} {PROFILE} --no-first-run", "")
    zygote = process(61, 60, CHROMIUM, CHROMIUM, "--type=zygote")
    renderer = process(62, 61, CHROMIUM, CHROMIUM, "--type=renderer")
    native_host = process(63, 60, "/usr/bin/python3.11", "python3", "host.py")
    assert stopped(browser, zygote, renderer, native_host) == [63]


def test_a_browser_with_another_profile_is_a_command() -> None:
    assert stopped(process(60, 1, CHROMIUM, CHROMIUM, "--user-data-dir=/tmp/x")) == [60]


def test_the_profile_makes_no_browser_of_another_program_nor_of_a_part() -> None:
    assert stopped(process(60, 1, "/usr/bin/python3.11", "python3", PROFILE)) == [60]
    assert stopped(process(60, 1, None, CHROMIUM, PROFILE)) == [60]
    assert stopped(process(60, 1, CHROMIUM, CHROMIUM, f"{PROFILE}-2")) == [60]
    assert stopped(process(60, 1, CHROMIUM, CHROMIUM, PROFILE, "--type=zygote")) == [60]


def test_pages_are_shown_by_the_browser_that_the_service_launched_alone() -> None:
    table = (
        process(20, 1, CHROMIUM, CHROMIUM),
        process(21, 20, CHROMIUM, CHROMIUM, "--type=zygote"),
        process(60, 1, CHROMIUM, CHROMIUM, "--user-data-dir=/tmp/x"),
        process(13, 1, "/usr/bin/dbus-daemon"),
    )
    assert [pid for pid in (20, 60, 13, 99) if is_browser(pid, table, ORIGINS)] == [20]
    # Another application goes on in private, and is no browser.
    assert not is_browser(20, [process(20, 1, "/usr/bin/python3.11")], ORIGINS)


def test_processes_of_other_users_are_named_if_the_agent_started_them() -> None:
    table = (
        *(process(1, 0, uid=0), process(30, 1), process(31, 30, "/usr/bin/sudo", uid=0)),
        process(32, 31, uid=0),
    )
    found = selection(table, ORIGINS)
    assert [one.pid for one in found.stop] == [30]
    assert [one.pid for one in found.foreign] == [31, 32]


def test_a_cycle_of_reused_pids_ends() -> None:
    assert stopped(process(30, 31), process(31, 30)) == [30, 31]


def test_a_browser_with_its_own_user_goes_on_and_no_other_process_of_that_user() -> None:
    own = UID + 2
    origins = ORIGINS._replace(browser_uid=own)
    table = (
        *(process(1, 0, uid=0), process(20, 1, "/usr/bin/dash", uid=own)),
        process(60, 20, CHROMIUM, CHROMIUM, PROFILE, uid=own),
        process(61, 60, CHROMIUM, CHROMIUM, "--type=zygote", uid=own),
        process(62, 61, CHROMIUM, CHROMIUM, "--type=renderer", uid=own),
        process(63, 60, "/usr/bin/python3.11", "python3", "handler.py", uid=own),
        process(64, 63, CHROMIUM, CHROMIUM, uid=own),
        process(65, 1, "/usr/bin/python3.11", uid=own),
        # The agent's own browser has no part in it, whatever its arguments are.
        process(67, 1, CHROMIUM, CHROMIUM, PROFILE),
    )
    assert sorted(one.pid for one in selection(table, origins).stop) == [63, 64, 65, 67]
    assert [pid for pid in (60, 65, 67) if is_browser(pid, table, origins)] == [60]
    # A browser that hands its page over to the one that runs already is known by its profile.
    started = process(70, 1, CHROMIUM, CHROMIUM, PROFILE, uid=own)
    assert selection([started], origins).stop == ()
