"""Reading posted JSON: from objects to blocks, drafts and replies, with nothing lost on the way.

What a codec did not ask for is noted; a message with content of which nothing was read is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ...jsontext.fields import Fields, escaped
from ...jsontext.twice import repeats
from ...jsontext.writing import dumps
from ...model.conversation import Block, Draft, Opaque, Remark, Speaker, Text, Thinking, ToolResult
from ...model.errors import RuleBroken
from ...model.json_values import Json, JsonObject, JsonText, Texts
from ...model.telling import missing, named, wrong_type
from .responses import Reply

Made = TypeVar("Made", bound=Block)
_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "human",
    "assistant": "ai",
    "tool": "tool",
    "function": "tool",
}
# The facts of a response, under the names that most providers give them.
_FACTS = ("id", "model", "stop_reason", "usage", "error")
# What a model gave to a tool, and schemas: JSON of others, in which a null says something.
_FREE = ("input", "args", "arguments", "input_schema", "parameters")
# How many members one note names, and how much of each pointer.
_NAMED = 20
_LONGEST = 200


def elements(members: JsonObject, texts: Texts, key: str) -> Iterator[tuple[Fields, str]]:
    """Each object of the list under `key`, and its very text."""
    body = Fields(members, "")
    if members.get(key) is None:
        raise body.broken(key, missing(key, "a list"))
    if not body.items(key):
        raise body.broken(key, f"`{key}` must not be empty.")
    return zip(body.each(key), texts[key], strict=True)


def draft(
    fields: Fields, speaker: Speaker, blocks: Sequence[Block], text: str, content: str
) -> Draft:
    """The turn that was read from a message, whose content stands under the name `content`."""
    notes = (*left_over(fields, blocks, content), *overwritten((fields.at, text)))
    return Draft(
        speaker,
        tuple(blocks),
        payload=text,
        pointer=fields.at,
        notes=notes,
        messages=((fields.at, fields.members),),
    )


def beside(
    members: JsonObject,
    texts: Texts,
    name: str,
    read: Callable[[Fields, str], Iterable[Block]],
) -> list[Draft]:
    """The system turn of what stands beside the messages under a name, if something does."""
    value = members.get(name)
    if value is None:
        return []
    fields, at, said = Fields({name: value}, ""), f"/{name}", texts[name]
    text, parts = said[0], [(at, said[0])]
    if isinstance(value, list):
        text = f"[{','.join(said)}]"
        parts = [(f"{at}/{place}", one) for place, one in enumerate(said)]
    blocks = tuple(read(fields, name))
    notes = (*left_over(fields, blocks, name), *overwritten(*parts))
    posted = (("", fields.members),)
    return [Draft("system", blocks, payload=text, pointer=at, notes=notes, messages=posted)]


def plain_text(fields: Fields, name: str) -> Iterator[Text]:
    """For `beside`: what stands there is one text."""
    yield Text(fields.text(name), source=f"{fields.at}/{name}")


def left_over(fields: Fields, blocks: Sequence[Block], content: str) -> Iterator[Remark]:
    """The note that names what nobody read. Raises `RuleBroken` where that was all there is."""
    names = list(fields.unread())
    if not names:
        return
    if not blocks:
        name = names[0].removeprefix(fields.at + "/")
        raise RuleBroken(
            f"Content must stand in `{content}`; {named(name)} is not read here, and nothing else"
            " in this message is content.",
            pointer=names[0],
        )
    ids = [name for name in names if name.lower().endswith("id")]
    results = [one for one in blocks if isinstance(one, ToolResult)]
    if ids and not all(one.raw_id or one.call_id for one in results):
        # It may be the id of the result, one level too high or too deep.
        raise RuleBroken(
            f"A result without an id stands beside {named(ids[0].rpartition('/')[2])}, which is"
            " not read there: the id of its call must stand in the result itself.",
            pointer=ids[0],
        )
    yield _not_read(names, "kept in the payload, shown to no other provider")


def overwritten(*placed: tuple[str, str]) -> Iterator[Remark]:
    """The note that names what was given twice. `placed`: pointers, and the texts that stand there.

    Of two members with one name the last one is read, as others read it; both stay in the payload.
    """
    if names := [where[:_LONGEST] for at, text in placed for _, where in repeats(text, at)]:
        yield _not_read(names, "given twice; only the last one is read")


def _not_read(names: Sequence[str], why: str) -> Remark:
    shown = ", ".join(name[:_LONGEST] for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return Remark("MEMBERS_NOT_READ", f"{shown}{more}: {why}")


def check_named(result: Fields, raw_id: str | None, key: str) -> None:
    """Refuses a result without an id that says something under a name that is not read here.

    That may well be its id; without one it would be matched by position, to another call perhaps.
    """
    if raw_id or not (names := result.own_unread()):
        return
    told = f"The id of the call that a result answers must stand in `{key}`"
    raise result.broken(escaped(names[0]), f"{told}; {named(names[0])} is not read here.")


def arguments_text(value: "Json | JsonText") -> str:
    """Arguments that came as a value, as text; exactly as far as they came, if they broke off."""
    return value.text if isinstance(value, JsonText) else dumps(value)


def text_or_value(arguments: Json) -> str:
    """Arguments that should come as text, and that some send as a value; none are an empty text."""
    if arguments is None:
        return ""
    return arguments if isinstance(arguments, str) else dumps(arguments)


def first_of(response: Fields, key: str) -> tuple[Fields, tuple[Remark, ...]]:
    """The first of a response's alternatives; the others are noted."""
    values = response.items(key)
    if not values:
        raise response.broken(key, f"`{key}` is required and must be a list that is not empty.")
    notes: tuple[Remark, ...] = ()
    if len(values) > 1:
        more = f"{len(values) - 1} more {key} stand in the payload only"
        notes = (Remark("CHOICES_NOT_SHOWN", more),)
    return response.below(values[0], f"{key}/0"), notes


def reply(
    response: JsonObject,
    blocks: Iterable[Block],
    notes: Iterable[Remark],
    messages: Iterable[tuple[str, JsonObject]] = (),
    **facts: Json,
) -> Reply:
    """A reply; `facts`: those that the response has under other names or in other places.
    `messages`: what a caller would post of it as messages, each with its pointer.

    Members that an SDK's dump fills with null were never sent.
    """
    told = {name: response.get(name) for name in _FACTS} | facts
    said = {name: without_nulls(fact) for name, fact in told.items() if fact is not None}
    sent = (
        replace(one, native=without_nulls(one.native))
        if isinstance(one, Thinking | Opaque)
        else one
        for one in blocks
    )
    posted = tuple((at, _sent(message)) for at, message in messages)
    return Reply(tuple(sent), said, tuple(notes), posted)


def _sent(message: JsonObject) -> JsonObject:
    """A message of a response without the nulls of an SDK's dump. Null content says something."""
    return {
        name: without_nulls(_parsed(member))
        for name, member in message.items()
        if member is not None or name == "content"
    }


def _parsed(value: "Json | JsonText") -> Json:
    """The value; arguments that broke off, or are too long to be parsed here, are a text."""
    match value:
        case JsonText(text=text):
            return text
        case list():
            return [_parsed(one) for one in value]
        case dict():
            return {name: _parsed(member) for name, member in value.items()}
        case _:
            return value


def whole(fields: Fields) -> JsonObject:
    """All members of an object, but those that an SDK's dump fills with null: its provider never
    sent them, and refuses them (`input += [item.model_dump() for item in response.output]`).
    """
    members = without_nulls(fields.whole())
    assert isinstance(members, dict)
    return members


def without_nulls(value: Json) -> Json:
    """A value without members that are null; JSON of others is not looked into."""
    match value:
        case list():
            return [without_nulls(one) for one in value]
        case dict():
            return {
                key: one if key in _FREE else without_nulls(one)
                for key, one in value.items()
                if one is not None
            }
        case _:
            return value


def speaker_of(fields: Fields, roles: Sequence[str]) -> Speaker:
    """Who speaks, by the role of a message, on a wire that has these roles."""
    return _SPEAKERS[fields.word("role", roles)]


def answering(speaker: Speaker, blocks: Iterable[Block]) -> Speaker:
    """A user's message that holds results is the tools', on wires that have no role for them."""
    if speaker == "human" and any(isinstance(block, ToolResult) for block in blocks):
        return "tool"
    return speaker


def text_or_list(
    fields: Fields, name: str, read: Callable[[Fields], Iterable[Made]], what: str = "parts"
) -> Iterator[Made | Text]:
    """The content under a name: a text, or a list of `what`, each of which is read."""
    content = fields.get(name)
    match content:
        case None | "":
            return
        case str():
            yield Text(content, source=f"{fields.at}/{name}")
        case list():
            for place, value in enumerate(content):
                inner = fields.below(value, f"{name}/{place}")
                for block in read(inner):
                    yield sourced(block, inner)
        case _:
            wanted = f"a string or a list of {what}"
            raise fields.broken(name, wrong_type(name, wanted, content))


def sourced(block: Made, fields: Fields) -> Made:
    """The block, with the place that it was read from."""
    return replace(block, source=fields.at)


def names(text: str) -> frozenset[str]:
    """The names that a text lists, with blanks between them."""
    return frozenset(text.split())
