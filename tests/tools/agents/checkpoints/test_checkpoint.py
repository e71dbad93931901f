from deskhand.tools.agents.checkpoints.checkpoint import (
    Checkpoint,
    SentHistory,
    checkpoint_from_json,
)
from deskhand.tools.conversation.conversation import (
    Compaction,
    Image,
    Message,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)
from deskhand.tools.kit.support.spec import ToolSpec

SUMMARY = (Message("assistant", (Compaction({"type": "compaction", "content": "All."}),)),)
TOOL = ToolSpec("execute", "Runs.", {"type": "object"})


def history(replies: int) -> tuple[Message, ...]:
    messages = [Message("user", (Text("Go."),))]
    for n in range(replies):
        call = ToolCall(f"c{n}", "screenshot", {}, "computer")
        shot = Image(f"f{n}", "image/png", 1280, 720)
        messages.append(Message("assistant", (Thinking({"thinking": f"t{n}"}), call)))
        messages.append(Message("user", (ToolResult(f"c{n}", (Text("ok"), shot)),)))
    return tuple(messages)


def test_a_summary_takes_the_place_of_older_messages() -> None:
    made, messages = Checkpoint(SUMMARY, 5, 9), history(6)
    assert made.sent(messages) == (*SUMMARY, *messages[5:])


def test_thinking_and_old_pictures_are_left_out_up_to_the_checkpoint_only() -> None:
    made, messages = Checkpoint(SUMMARY, 5, 9, 9, 1), history(6)
    sent = made.sent(messages)
    assert sent[5:] == messages[9:]
    kept = sent[1:5]
    assert not any(isinstance(b, Thinking) for m in kept for b in m.content)
    assert "left out here: file f2" in str(kept[1])
    assert kept[3] == messages[8]


def test_a_checkpoint_is_read_back_as_it_was_written() -> None:
    for made in (
        Checkpoint(SUMMARY, 5, 9, 9, 1, (TOOL,), "anthropic", "All."),
        Checkpoint(SUMMARY, 1, 3),
    ):
        assert checkpoint_from_json(made.to_json()) == made


def test_another_provider_reads_the_summary_in_words() -> None:
    made = Checkpoint(SUMMARY, 5, 9, provider="anthropic", text="All of it.")
    assert made.readable_by("anthropic") is made
    other = made.readable_by("openai")
    assert "All of it." in str(other.summary)
    assert (other.summary[0].role, other.thinking_from) == ("user", 9)
    own = Checkpoint(SUMMARY, 5, 9)
    assert own.readable_by("openai") is own


def test_what_did_not_change_is_the_same_object() -> None:
    sent, messages = SentHistory("anthropic"), history(6)
    assert sent.of(messages, None) is messages
    made = Checkpoint(SUMMARY, 5, 9, 9, 1)
    first, second = sent.of(messages[:11], made), sent.of(messages, made)
    assert all(a is b for a, b in zip(first, second, strict=False))
    assert len(second) == len(first) + 2
    again = Checkpoint(SUMMARY, 9, 13)
    assert sent.of(messages, again) == again.sent(messages)
