import json

from deskhand.desktop.programs.program import Program, ProgramLimits, ProgramUser


def test_a_program_is_the_same_after_its_message() -> None:
    limits = ProgramLimits(oom_score_adj=500, nice=5, processes=100, cgroup="/sys/fs/cgroup/x")
    program = Program(
        *(("sh", "-c", "echo"), {"PATH": "/bin", "BYTES": "\udcff"}, ("/home", "/")),
        descriptors=(0, 1, 2, 7),
        terminal=0,
        user="browser",
        limits=limits,
    )
    message = json.loads(json.dumps({"do": "start", **program._asdict()}))
    assert Program.parse(message) == program


def test_a_user_is_the_same_after_its_message() -> None:
    user = ProgramUser(1001, 1002, (5, 6))
    assert ProgramUser.parse(json.loads(json.dumps(user))) == user
