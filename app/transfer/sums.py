"""The checksum of an exported line: its last member is the sha256 of the line without it.

It shows that a line was changed, not by whom: whoever takes the member away takes the check away.
"""

import hashlib
import re

MEMBER = "sha256"
_SUMMED = re.compile(r'(.*),"sha256":"([0-9a-f]{64})"\}', re.DOTALL)


def summed(line: bytes) -> bytes:
    """A JSON object, which is not empty, with its checksum."""
    return b'%s,"%s":"%s"}' % (
        line[:-1],
        MEMBER.encode(),
        hashlib.sha256(line).hexdigest().encode(),
    )


def is_as_summed(text: str) -> bool:
    """Whether a line ends with its checksum."""
    found = _SUMMED.fullmatch(text)
    if found is None:
        return False
    before = f"{found[1]}}}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(before).hexdigest() == found[2]
