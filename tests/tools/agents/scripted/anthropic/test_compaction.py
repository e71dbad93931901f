from typing import Any

import pytest

from deskhand.tools.agents.scripted.anthropic.compaction import (
    COMPACTION_BETA,
    Summarized,
    check_blocks,
    check_fields,
    sealed,
    unsealed,
)
from deskhand.tools.agents.scripted.script.request import InvalidRequest

Json = dict[str, Any]

BETAS = frozenset({COMPACTION_BETA})
EDITS: Json = {"context_management": {"edits": []}}
ASKED = {"compaction": {"type": "summarize", "instructions": "Short."}}
BLOCK = sealed({"type": "compaction", "content": "All of it."}, Summarized("abc", "user"))


def reply(*blocks: Json) -> Json:
    return {"role": "assistant", "content": list(blocks)}


@pytest.mark.parametrize(
    ("data", "betas", "problem"),
    [
        (ASKED, frozenset(), "compaction: Extra inputs are not permitted"),
        (EDITS, BETAS, "context_management: Extra inputs are not permitted"),
        (
            {**ASKED, **EDITS},
            BETAS | {"compact-2026-01-12"},
            "compaction: cannot be combined with context_management",
        ),
        ({"compaction": {"type": "auto"}}, BETAS, "compaction: must be of the type summarize"),
        ({"compaction": {"type": "summarize", "keep": 3}}, BETAS, "must be of the type"),
        ({"compaction": "summarize"}, BETAS, "must be of the type"),
    ],
)
def test_invalid_fields_are_refused(data: Json, betas: frozenset[str], problem: str) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        check_fields(data, betas)


def test_a_request_asks_for_a_compaction_or_does_not() -> None:
    assert check_fields(ASKED, BETAS)
    assert not check_fields({}, frozenset())
    assert not check_fields(EDITS, frozenset({"compact-2026-01-12"}))


def test_a_seal_says_what_the_block_stands_for() -> None:
    assert unsealed(BLOCK) == Summarized("abc", "user")
    assert unsealed({**BLOCK, "signature": "abc.user.x.y"}) is None
    check_blocks([reply(BLOCK), reply({"type": "text"})], BETAS)


@pytest.mark.parametrize(
    ("messages", "betas", "problem"),
    [
        ([reply(BLOCK)], frozenset(), "Extra inputs"),
        ([reply(BLOCK), reply(BLOCK)], BETAS, "only the `compaction` block returned last"),
        ([reply({"type": "text"}, BLOCK)], BETAS, r"messages\.0\.content\.1: .* the first block"),
        ([reply({**BLOCK, "signature": "x"})], BETAS, "does not verify"),
        ([reply({**BLOCK, "content": "Else."})], BETAS, "differs from the text"),
    ],
)
def test_a_block_out_of_place_or_changed_is_refused(
    messages: list[Json], betas: frozenset[str], problem: str
) -> None:
    with pytest.raises(InvalidRequest, match=problem):
        check_blocks(messages, betas)
