from hypothesis import given
from hypothesis import strategies as st

from app.ledger.records import Call
from app.ledger.wanted import AskedWord
from app.model.conversation import File, Image, Text, Thinking, ToolCall, ToolResult, Turn
from app.search.texts import SEARCHED, turn_words
from app.search.words import LONGEST, asked, id_words, words


def turn(*blocks: object) -> Turn:
    return Turn(1, "t-1", "ai", blocks, "openai")  # type: ignore[arg-type]


def test_case_accents_and_width_do_not_matter() -> None:
    assert words("Café CAFE ＣＡＦＥ ﬁn Straße") == {"cafe", "fin", "strasse"}


def test_identifiers_are_found_whole_and_by_their_parts() -> None:
    assert words("read_file") == {"read_file", "read", "file"}
    assert words("getHTTPStatus") == {"gethttpstatus", "get", "http", "status"}


def test_ids_are_found_whole() -> None:
    assert id_words("call_ABC-d") == {"call_abc", "d"}


def test_scripts_without_spaces_are_found_by_pairs() -> None:
    assert words("東京都") == {"東京", "京都", "都"}
    assert asked("京都") == (AskedWord("京都", prefix=True),)
    assert asked("京 x") == (AskedWord("京", prefix=True), AskedWord("x", prefix=True))


def test_the_last_word_that_is_asked_for_may_be_a_beginning() -> None:
    assert asked("Read the FIL") == (
        AskedWord("read"),
        AskedWord("the"),
        AskedWord("fil", prefix=True),
    )


def test_a_word_is_cut_the_same_in_texts_and_in_questions() -> None:
    long = "x" * 1000
    assert words(long) == {"x" * LONGEST} == {asked(long)[0].text}


@given(st.text(st.characters()))
def test_words_hold_nothing_that_means_something_to_a_database(text: str) -> None:
    for word in words(text) | {one.text for one in asked(text)}:
        word.encode()
        assert word
        assert not set(word) & set(" \t\n\0'\"\\&|!:*()<>-+^")


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_a_text_is_found_by_itself_whatever_stands_around_it(before: str, text: str) -> None:
    there = words(f"{before} {text} {before}")
    for word in asked(text):
        assert any(one.startswith(word.text) if word.prefix else one == word.text for one in there)


@given(st.text(st.characters(), max_size=30), st.text(st.characters(max_codepoint=127)))
def test_a_plain_text_is_cut_the_same_beside_a_strange_one(strange: str, plain: str) -> None:
    assert words(f"{plain} {strange}") == words(plain) | words(strange)
    assert words(plain) == words(f"{plain} \N{EM DASH}")


def test_what_was_said_is_searched() -> None:
    found = turn_words(
        turn(
            Text("hello"),
            ToolCall("raw-1", "get_weather", '{"city": "Par\\u00eds\\nBonn", "days": 3}'),
            ToolResult("raw-2", {"sky": ["clear"]}, name="get_weather"),
            ToolResult("raw-3", parts=(Text("part"), Image("data:image/png;base64,AAAA"))),
            ToolResult("raw-4", status="error", error="failed badly"),
            ToolCall(None, "broken", "{not json"),
        ),
        [],
    )
    assert {"hello", "get_weather", "weather", "city", "paris", "bonn", "3"} <= set(found)
    assert {"sky", "clear", "part", "failed", "not", "raw"} <= set(found)
    assert not {"nbonn", "aaaa", "png"} & set(found)


def test_every_id_of_a_turn_is_searched() -> None:
    call = Call(
        "hist_tool_abc", "raw_1", "f", "kimi", None, "t-1", 1, 0, provider_ids={"mistral": "ab9"}
    )
    assert {"hist_tool_abc", "raw_1", "ab9", "t", "1"} <= set(turn_words(turn(), [call]))


def test_reasoning_pictures_files_and_base64_are_not_searched() -> None:
    silent = turn_words(
        turn(
            Thinking("secret"),
            Image("https://picture.example"),
            File("data:text/plain;base64,QUJD", "name.txt"),
            Text("A+b/" * 100),
        ),
        [],
    )
    assert silent == ["1", "t"]


def test_of_a_long_turn_the_beginning_is_searched() -> None:
    text = " ".join(f"w{number}" for number in range(100_000))
    found = turn_words(turn(Text(text), Text("behind")), [])
    assert "w0" in found
    assert "behind" not in found
    assert sum(map(len, found)) < SEARCHED


def test_words_fit_into_a_tsvector_whatever_is_said() -> None:
    for text in ("\ufdfa" * SEARCHED, "".join(map(chr, range(0x20000, 0x2A000))) * 3):
        assert sum(len(word.encode()) for word in turn_words(turn(Text(text)), [])) < 1_000_000
