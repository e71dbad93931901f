import pytest
from hypothesis import given
from hypothesis import strategies as st

from deskhand.desktop.git.credential_prompts import (
    LONGEST_LINE,
    CredentialPrompt,
    CredentialQuestions,
    Question,
    prompt_of,
    server_of,
)

LINE = b"42\tchat\tmain\thttps://host/r.git\tUsername for 'https://host': \n"
QUESTION = Question(42, "chat", "main", "https://host/r.git", "Username for 'https://host': ")


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("Username for 'https://host': ", CredentialPrompt("username", "https://host")),
        ("Password for 'https://me@host': ", CredentialPrompt("password", "https://host", "me")),
        (
            "Passwort für 'http://m%40e@Host:81': ",
            CredentialPrompt("password", "http://host:81", "m@e"),
        ),
        ("Username for 'https://host/a/b.git': ", CredentialPrompt("username", "https://host")),
        ("Username for 'https://[::1]:81': ", CredentialPrompt("username", "https://[::1]:81")),
        ("me@host's password: ", CredentialPrompt("password", "ssh://host", "me")),
        ("(me@host) Password: ", CredentialPrompt("password", "ssh://host", "me")),
    ],
)
def test_prompts_for_names_and_passwords_are_distinguished_in_any_language(
    text: str, prompt: CredentialPrompt
) -> None:
    assert prompt_of(text) == prompt


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Enter passphrase for key '/home/me/.ssh/id': ",
        "Are you sure you want to continue connecting (yes/no)? ",
        "Username for 'https://ho\u0301st': ",
        "Username for '://host': ",
    ],
)
def test_anything_else_is_not_answered(text: str) -> None:
    assert prompt_of(text) is None


def test_a_server_has_one_name() -> None:
    assert server_of("HTTPS", "Example.org:443") == "https://example.org:443"


def test_a_question_is_read() -> None:
    assert CredentialQuestions().feed(LINE) == [QUESTION]


@pytest.mark.parametrize(
    "line", [b"", b"\t\t\t\t", b"x\t\t\t\t", b"1\t\t\t", b"1\t\t\t\t\t", b"12345678901\t\t\t\t"]
)
def test_a_line_of_another_form_is_no_question(line: bytes) -> None:
    assert CredentialQuestions().feed(line + b"\n" + LINE) == [QUESTION]


@pytest.mark.parametrize("size", [LONGEST_LINE + 1, 3 * LONGEST_LINE])
def test_a_line_that_is_too_long_is_passed_over(size: int) -> None:
    data = b"1\t\t\t\t" + b"x" * size + b"\n" + LINE
    assert CredentialQuestions().feed(data) == [QUESTION]
    questions = CredentialQuestions()
    assert [one for at in range(len(data)) for one in questions.feed(data[at : at + 1])] == [
        QUESTION
    ]


@given(st.lists(st.binary(max_size=40) | st.just(LINE)))
def test_it_does_not_matter_how_the_bytes_come(parts: list[bytes]) -> None:
    data = b"".join(parts)
    questions = CredentialQuestions()
    singly = [one for at in range(len(data)) for one in questions.feed(data[at : at + 1])]
    assert singly == CredentialQuestions().feed(data)
