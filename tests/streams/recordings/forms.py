"""The other forms that providers give their streams: AWS's binary frames, one JSON array."""

import json
import struct
from typing import Any
from zlib import crc32

from tests.streams.recordings.frames import Recording


def in_frames(one: Recording) -> Recording:
    """A recording of Bedrock as it comes over the wire."""
    name = f"{one.name}, in frames"
    return Recording(one.provider, name, aws_frames(one.stream), one.finished, one.whole)


def in_array(one: Recording) -> Recording:
    """A recording of Gemini as it comes without `alt=sse`: pretty, with CRLF between elements."""
    lines = one.stream.decode().splitlines()
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    texts = (json.dumps(event, indent=2, ensure_ascii=False) for event in events)
    stream = ("[" + ",\r\n".join(texts) + "\n]\n").encode()
    return Recording(one.provider, f"{one.name}, in an array", stream, one.finished, one.whole)


def aws_frames(lines: bytes) -> bytes:
    """Events, one a line, in the binary frames of AWS."""
    return b"".join(event_frame(json.loads(line)) for line in lines.splitlines())


def event_frame(event: dict[str, Any]) -> bytes:
    ((name, payload),) = event.items()
    failed = name.endswith("Exception")
    headers = {
        ":message-type": "exception" if failed else "event",
        ":exception-type" if failed else ":event-type": name,
        ":content-type": "application/json",
    }
    return frame(b"".join(map(header, headers, headers.values())), json.dumps(payload).encode())


def frame(headers: bytes, body: bytes) -> bytes:
    """Lengths of all and of the headers, their checksum; headers; payload; checksum of all."""
    prelude = struct.pack("!II", 16 + len(headers) + len(body), len(headers))
    message = prelude + struct.pack("!I", crc32(prelude)) + headers + body
    return message + struct.pack("!I", crc32(message))


def header(name: str, value: str) -> bytes:
    key, text = name.encode(), value.encode()
    return bytes([len(key)]) + key + b"\x07" + struct.pack("!H", len(text)) + text
