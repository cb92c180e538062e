"""How much one request may hold before it is refused by name.

The numbers are published in `/docs` and the README. They are settings; the defaults here are
the ones that everybody has who did not choose others.
"""

from dataclasses import dataclass

# Seconds until a conversation, or an idempotency key, may expire: a hundred years.
LONGEST_EXPIRY = 3_155_760_000


@dataclass(frozen=True, slots=True)
class Limits:
    """The largest sizes that are accepted; a value equal to its limit still passes."""

    # Bytes of the head of a request.
    head_bytes: int = 64 * 1024
    # Bytes of a request body.
    body_bytes: int = 32 * 1024 * 1024
    # Bytes of a stream: providers send about 300 for each token.
    stream_bytes: int = 48 * 1024 * 1024
    # Turns of one POST.
    turns: int = 1_000
    # Blocks of one turn.
    blocks: int = 10_000
    # Tool calls and results of one POST together: each is a row, found and written by itself.
    calls: int = 20_000
    # Messages of a synced list: it repeats the history, and is compared with it message by message.
    synced_messages: int = 10_000
    # Tool calls and results of a synced list together.
    synced_calls: int = 20_000
    # Arrays and objects inside one another.
    depth: int = 64
    # Commas and opening brackets outside of strings: there are no more values than that.
    json_values: int = 200_000
    # Bytes of a raw id in UTF-8.
    raw_id_bytes: int = 64 * 1024
    # Bytes of the name of a model, which is kept with every turn and every call of a POST.
    model_bytes: int = 1024
    # Bytes of the metadata beside the messages of a POST, which are kept with every turn of it.
    metadata_bytes: int = 64 * 1024
    # Digits of one integer; 4,300 is also where CPython stops to convert them by default.
    integer_digits: int = 4_300
    # Tool definitions of one request.
    tools: int = 1_000
    # Values (objects, arrays, texts, numbers …) in the schemas of all these tools together.
    schema_nodes: int = 20_000
    # Bytes that an import holds at once: a line, or a session or document as a whole; unpacked.
    import_bytes: int = 128 * 1024 * 1024


# Stored bytes were checked against the limits of their day; reading them back must not depend on
# the limits of today.
UNLIMITED = Limits(depth=10_000, json_values=2**63 - 1, integer_digits=1_000_000)
