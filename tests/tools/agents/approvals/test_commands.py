import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.tools.agents.approvals.commands import command_risks, hosts_in, is_loopback


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


def test_hosts_are_those_of_urls() -> None:
    assert hosts_in("see https://A.example/x and http://u@b:1/") == ("a.example", "b")
    assert is_loopback("a.localhost")
    assert not is_loopback("example.com")


@given(st.text(alphabet="rm -;|&()'\"`$\n\\{}=x1/"))
def test_any_text_is_judged(command: str) -> None:
    command_risks(command)
