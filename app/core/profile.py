"""What a wire demands, as data. A codec fills one in; the middle obeys it."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from app.core.conversation import Opaque


def _keeps_nothing(blocks: Sequence[Opaque]) -> set[int]:
    return set()


@dataclass(frozen=True, slots=True)
class Profile:
    """The demands of one wire. Defaults are the laxest wire there is.

    verbatim            stored turns are shown as they are; nothing below applies
    results             a message for each result, one for all, or inside the user message
    system              leading system turns stand in line, or are given beside the messages
    inner_system        later system turns stand in line, or become marked user text
    alternate           neighbours of one role must be one message
    first_user          the first message must be the user's
    user_after_results  a user message may stand directly behind results
    last_assistant      a history may end with the assistant, with blanks at its end
    calls_last          nothing may follow the calls of an assistant message
    ids                 what a call's id may look like
    names               what a tool name may look like (at most 64 characters)
    blank_results       a result may be empty
    error_flag          the wire has a flag for failed results
    issuers             whose signed thinking and opaque blocks may be returned
    keeps_opaque        which opaque blocks of one message may be returned together
    images, files       media types it takes; "url" in them: addresses too
    result_media        images may stand inside results
    """

    verbatim: bool = False
    results: Literal["each", "together", "user"] = "each"
    system: Literal["inline", "beside"] = "inline"
    inner_system: Literal["inline", "user"] = "inline"
    alternate: bool = False
    first_user: bool = False
    user_after_results: bool = True
    last_assistant: bool = True
    calls_last: bool = False
    ids: re.Pattern[str] = re.compile(r".{1,}", re.DOTALL)
    names: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    blank_results: bool = True
    error_flag: bool = False
    issuers: frozenset[str] = frozenset()
    keeps_opaque: Callable[[Sequence[Opaque]], set[int]] = _keeps_nothing
    images: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    result_media: bool = False
