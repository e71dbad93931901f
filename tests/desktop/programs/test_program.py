import json

from deskhand.desktop.programs.program import Program, ProgramLimits


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
