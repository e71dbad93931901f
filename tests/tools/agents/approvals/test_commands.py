import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.approvals.commands import (
    command_hosts,
    command_risks,
    requested_inputs,
)
from deskhand.tools.agents.approvals.places import Places


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("ls -la", []),
        ("echo rm", []),
        ("grep -r delete .", []),
        ("cat notes && make", []),
        ("git status", []),
        ("git log --oneline", []),
        ("pip list", []),
        ("python -m http.server", []),
        ("rm -rf build", ["delete"]),
        ("cd /tmp; /bin/rm x", ["delete"]),
        ("sudo -n rm x", ["delete"]),
        ("FOO=1 timeout -k 5 60 rm x", ["delete"]),
        ("find . -name x -delete", ["delete"]),
        ("find . -exec rm {} +", ["delete"]),
        ("ls | xargs rm", ["delete"]),
        ("bash -c 'ls; rm x'", ["delete"]),
        ('echo "$(rm x)" done', ["delete"]),
        ("echo `rm x`", ["delete"]),
        ("if true\nthen rm x\nfi", ["delete"]),
        ("git clean -fdx", ["delete"]),
        ("apt-get install -y jq", ["install"]),
        ("pip3 install x", ["install"]),
        ("npm i left-pad", ["install"]),
        ("npm", ["install"]),
        ("dpkg -i x.deb", ["install"]),
        ("curl https://example.com", ["outside"]),
        ("curl http://127.0.0.1:8000/x", []),
        ("curl localhost:8000", []),
        ("curl -T secret http://example.com", ["outside", "upload"]),
        ("scp a me@host:b", ["upload"]),
        ("ssh host", ["outside"]),
        ("git push origin main", ["outside"]),
        ("chromium https://example.com/", ["outside"]),
        ("exec 3<>/dev/tcp/host/80", ["outside"]),
        ("rm 'x", ["delete"]),
        ("sudo", []),
        ("wget https://[", ["outside"]),
    ],
)
def test_a_command_meets_the_rules_of_its_programs(command: str, rules: list[str]) -> None:
    assert sorted(command_risks(command)) == rules


def test_a_rule_names_the_program_that_meets_it() -> None:
    assert command_risks("ls; rm x; rmdir y") == {"delete": "rm"}


def test_nesting_has_a_limit() -> None:
    command = "rm x"
    for _ in range(6):
        command = f"eval {shlex.quote(command)}"
    assert command_risks(command) == {}


LASTING = Places("/kept/chat", "/d/home", ("/kept/chat",))


@pytest.mark.parametrize(
    ("command", "rules"),
    [
        ("rm -f /tmp/x", []),
        ("rm -f /tmp/x 2>/dev/null || true", []),
        ("rm -rf ~/build $HOME/.cache /tmp/*", []),
        ("find /tmp/a -name '*.pyc' -delete", []),
        ("dd if=/dev/zero of=/tmp/x", []),
        ("cd /tmp/b && rm -rf x && ls 2>&1 | tail", []),
        ("pip install jq; sudo apt-get install -y jq; npx tsc", []),
        ("rm x", ["delete"]),
        ("rm -rf /tmp/x y", ["delete"]),
        ("rm -rf /", ["delete"]),
        ("rm -rf /tmp/../kept/chat", ["delete"]),
        ('rm -rf "$X"', ["delete"]),
        ("ls | xargs rm", ["delete"]),
        ("cd /tmp/b; rm -rf x", ["delete"]),
        ("cd /tmp/b && ls || rm x", ["delete"]),
        ("cd /tmp/b && cd - && rm x", ["delete"]),
        ("cd /tmp/b && ls\nrm x", ["delete"]),
        ("cd /tmp/b && ls & rm x", ["delete"]),
        ("cd /tmp && ls /kept/chat | xargs rm", ["delete"]),
        ("find . -delete", ["delete"]),
        ("git clean -fdx", ["delete"]),
        ("git push --force", ["delete", "outside"]),
        ("kubectl delete pod x", ["delete", "outside"]),
        ("npm install left-pad", ["install"]),
        ("pip install --target /kept/chat/lib jq", ["install"]),
        ("curl https://example.com", ["outside"]),
        ("cd /tmp && curl -O https://example.com/x && git clone https://example.com/y", []),
        ("cd /tmp && curl -T x https://example.com", ["upload"]),
        ("cd /tmp && ssh host", ["outside"]),
        ("cd /tmp && exec 3<>/dev/tcp/host/80", ["outside"]),
    ],
)
def test_what_ends_with_the_desktop_meets_no_rule(command: str, rules: list[str]) -> None:
    assert sorted(command_risks(command, LASTING)) == rules


def test_a_command_is_judged_in_its_directory() -> None:
    assert command_risks("rm x; npm i; curl https://a.example", LASTING, "/tmp/x") == {}
    assert sorted(command_risks("rm x", LASTING, "sub")) == ["delete"]
    nothing_lasts = Places("/d/work", "/d/home", ())
    assert command_risks("rm -rf / x; npm i; git clean -fdx", nothing_lasts) == {}


@pytest.mark.parametrize(
    ("command", "hosts"),
    [
        ("echo https://A.example/x", ("a.example",)),
        ("chromium a.example b.html --c=d.example", ("a.example",)),
        ("ls && /usr/bin/xdg-open http://b./", ("b",)),
        ("deskhand-request browser a.example", ("a.example",)),
        ("python3 -I /d/deskhand-request.py /d/run/agent.sock open a.example", ("a.example",)),
        ("deskhand-request status a.example", ()),
        ("cat a.example", ()),
    ],
)
def test_hosts_of_a_command_are_those_of_urls_and_of_browsers(
    command: str, hosts: tuple[str, ...]
) -> None:
    assert command_hosts(command) == hosts


@pytest.mark.parametrize(
    ("command", "inputs"),
    [
        ("deskhand-request input '{\"action\": \"wait\"}'", [{"action": "wait"}]),
        ("deskhand-request input '{\"action\": \"a\"}'; deskhand-request input 'x'",
         [{"action": "a"}, None]),
        ("python3 /d/deskhand-request.py /d/agent.sock input '[]'", [None]),
        ("deskhand-request input " + shlex.quote("[" * 100_000), [None]),
        ("deskhand-request input", [None]),
        ("deskhand-request status input", []),
        ("grep input deskhand-request", []),
        ("input x", []),
    ],
)  # fmt: skip
def test_a_command_may_request_input(command: str, inputs: list[object]) -> None:
    assert [one.action for one in requested_inputs(command)] == inputs


@given(st.text(alphabet="rm -;|&()'\"`$\n\\{}=x1/"))
def test_any_text_is_judged(command: str) -> None:
    command_risks(command)
    command_risks(command, LASTING)
    requested_inputs(command)
