from deskhand.desktop.launch.mount_plan import DesktopView, Mount, mounts, not_executable

FOLDER = "/var/lib/deskhand/desktops/one"
ROOT = "/var/lib/deskhand/desktops"


def planned(**places: object) -> dict[str, Mount]:
    view = DesktopView(**{"folder": FOLDER, "hidden": (ROOT,), **places})  # type: ignore[arg-type]
    return {one.path: one for one in mounts(view)}


def test_a_desktop_has_its_own_directory_and_temporary_files() -> None:
    found = planned(temporary_bytes=4096)
    assert list(found) == ["/dev/shm", "/tmp", ROOT, FOLDER]
    assert found["/tmp"] == Mount("empty", "/tmp", 0o1777, 4096)
    assert found["/dev/shm"] == Mount("empty", "/dev/shm", 0o1777, 4096)
    assert found[FOLDER].kind == "shown"


def test_what_is_hidden_is_empty_and_read_only() -> None:
    hidden = planned(hidden=(ROOT, "/srv/data"))
    assert (hidden["/srv/data"].kind, hidden["/srv/data"].sealed) == ("empty", True)
    assert (hidden[ROOT].kind, hidden[ROOT].sealed) == ("empty", True)


def test_what_lies_in_a_hidden_directory_needs_no_mount() -> None:
    found = planned(hidden=("/tmp/run", "/srv", "/srv/data"), folder="/tmp/run/one")
    assert list(found) == ["/dev/shm", "/srv", "/tmp", "/tmp/run/one"]


def test_a_hidden_directory_in_a_writable_one_is_covered_again() -> None:
    found = planned(hidden=("/srv/data",), writable=("/srv",))
    assert list(found) == ["/dev/shm", "/srv", "/srv/data", "/tmp", FOLDER]


def test_a_directory_that_is_writable_and_hidden_is_shown_on_top() -> None:
    found = planned(hidden=(ROOT, "/srv"), writable=("/srv/work",))
    assert list(found) == ["/dev/shm", "/srv", "/srv/work", "/tmp", ROOT, FOLDER]


def test_the_root_of_the_machine_never_becomes_writable() -> None:
    assert "/" not in planned(writable=("/",))


def test_a_file_is_shown_read_only_at_its_place() -> None:
    found = planned(files=((f"{FOLDER}/run/passwd", "/etc/passwd"),))
    source = f"{FOLDER}/run/passwd"
    assert found["/etc/passwd"] == Mount("file", "/etc/passwd", sealed=True, source=source)


def test_a_named_profile_is_seen_in_place_of_that_of_the_desktop() -> None:
    found = planned(profile=f"{ROOT}/profiles/work/files")
    assert list(found)[-2:] == [FOLDER, f"{FOLDER}/browser"]
    source = f"{ROOT}/profiles/work/files"
    assert found[f"{FOLDER}/browser"] == Mount("shown", f"{FOLDER}/browser", source=source)


def test_keymaps_of_x_servers_have_a_place_for_their_group_alone() -> None:
    keymaps = planned(x_group=4711)["/var/lib/xkb"]
    assert keymaps == Mount("empty", "/var/lib/xkb", 0o770, 1 << 20, group=4711)
    assert "/var/lib/xkb" not in planned()


def test_what_the_agent_can_fill_holds_no_programs_of_the_browser() -> None:
    found = not_executable(DesktopView(FOLDER, (ROOT,), writable=("/", "/srv/work")))
    assert found.mounted == ("/tmp", "/dev/shm", "/srv/work")
    assert set(found.folders) >= {f"{FOLDER}/{name}" for name in ("home", "work", "browser")}
    # The scripts of the session are the service's.
    assert not {f"{FOLDER}/{name}" for name in ("bin", "libexec")} & set(found.folders)
