"""What people are told: the subject first, what must be, and never what they sent at length."""

import pytest

from app.formats.registry import NICKNAMES
from app.model import telling
from app.model.forms import CONVERSATION_ID, TURN_ID
from app.model.json_values import NumberText
from app.model.nearest import nearest, nearest_provider


def test_what_is_missing_is_called_missing() -> None:
    assert telling.missing("provider") == "`provider` is required."
    assert telling.missing("role", "a string") == "`role` is required and must be a string."


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({}, "an object"),
        ([], "a list"),
        ("x", "a string"),
        (1, "a number"),
        (1.5, "a number"),
        (True, "true"),
        (False, "false"),
        (None, "null"),
    ],
)
def test_a_wrong_type_names_both_types(value: object, kind: str) -> None:
    told = telling.wrong_type("messages", "a list of messages", value)
    assert told == f"`messages` must be a list of messages, not {kind}."


def test_a_wrong_word_lists_the_right_ones_and_asks_for_the_nearest() -> None:
    told = telling.one_of("reasoning", "txt", ["auto", "text", "drop"])
    assert told == "`reasoning` must be auto, text or drop, not 'txt'; did you mean 'text'?"
    told = telling.one_of("order", None, ["asc", "desc"])
    assert told == "`order` must be asc or desc, not null."


def test_a_number_is_told_its_bounds() -> None:
    told = telling.out_of_range("limit", 1, 1000, "x")
    assert told == "`limit` must be a whole number from 1 to 1000, not 'x'."
    told = telling.out_of_range("last", 1, None, 0)
    assert told == "`last` must be a whole number of at least 1, not 0."
    assert "a number of many digits" in telling.out_of_range("last", 1, 9, 10**4000)
    long = NumberText.of("0." + "0" * 4000)
    assert "a number of many digits" in telling.out_of_range("last", 1, 9, long)


def test_an_unknown_member_lists_the_known_ones_and_asks_for_the_nearest() -> None:
    told = telling.unknown("message", ["provider", "messages"])
    assert told == (
        "`message` is not a member here; did you mean `messages`? Known: `provider`, `messages`."
    )
    told = telling.unknown("zzz", ["limit"], "a parameter")
    assert told == "`zzz` is not a parameter here. Known: `limit`."


def test_an_id_is_told_which_of_its_characters_is_wrong() -> None:
    told = TURN_ID.complaint("a b")
    assert told == (
        "A turn id must have 1 to 128 characters (letters, digits, . _ : -); this one has a space."
    )
    assert TURN_ID.complaint("a/b").endswith("this one has '/'.")
    assert TURN_ID.complaint("naïve").endswith("this one has U+00EF.")
    assert TURN_ID.complaint("").endswith("this one is empty.")
    assert TURN_ID.complaint("x" * 300).endswith("this one has 300.")
    assert CONVERSATION_ID.complaint("..").endswith("it must not be '..'.")


def test_a_pointer_is_escaped_and_never_long() -> None:
    assert telling.pointer("a/b", 0, "c~d") == "/a~1b/0/c~0d"
    assert len(telling.pointer("x" * 5000)) < 100
    assert len(telling.parameter("x" * 5000)) < 100


@pytest.mark.parametrize("sent", ["secret " * 9, "x" * 65, "a\nb", "tell me a secret", "\x1b[2J"])
def test_what_is_no_word_is_not_repeated(sent: str) -> None:
    for told in (
        telling.one_of("a", sent, ["b"]),
        telling.out_of_range("a", 1, 2, sent),
        telling.unknown(sent, ["b"]),
        telling.unknown(sent, ["b" * 70]),
    ):
        assert sent not in told
        assert f"{len(sent)} characters" in told


def test_objects_and_lists_are_not_repeated() -> None:
    assert "secret" not in telling.one_of("to", {"a": "secret"}, ["b"])
    assert "secret" not in telling.wrong_type("to", "a string", ["secret"])


@pytest.mark.parametrize(
    ("word", "meant"),
    [("turnId", "turn_id"), ("turn-id", "turn_id"), ("meta_data", "metadata"), ("zzz", None)],
)
def test_the_nearest_word_does_not_mind_how_it_is_joined(word: str, meant: str | None) -> None:
    assert nearest(word, ["turn_id", "metadata"]) == meant


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("antropic", "anthropic"),
        ("Anthropic", "anthropic"),
        ("claude", "anthropic"),
        ("claude-sonnet-4", "anthropic"),
        ("gpt-4o", "openai"),
        ("chatgpt", "openai"),
        ("azure", "openai"),
        ("open_ai", "openai"),
        ("openai_responses", "openai-responses"),
        ("responses", "openai-responses"),
        ("google", "gemini"),
        ("vertex_ai", "gemini"),
        ("moonshot", "kimi"),
        ("moonshotai", "kimi"),
        ("aws", "bedrock"),
        ("amazon-bedrock", "bedrock"),
        ("mistralai", "mistral"),
        ("vercel_v4", "vercel-v4"),
        ("ai-sdk", "vercel"),
        ("my-deepseek-proxy", "deepseek"),
        ("grok", None),
        ("llama", None),
        ("x" * 10_000, None),
    ],
)
def test_providers_are_known_by_their_other_names(word: str, meant: str | None) -> None:
    assert nearest_provider(word, NICKNAMES) == meant
