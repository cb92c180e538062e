"""What a wire demands, as data. A codec fills one in; the middle obeys it."""

import re
from collections.abc import Callable
from typing import Literal

from ...model.conversation import Opaque
from ...model.json_values import Json
from ...model.value import dataclass

BOTH = frozenset({"user", "assistant"})
ASSISTANT = frozenset({"assistant"})


@dataclass(frozen=True, slots=True)
class Half:
    """One half of a call and result that the provider takes together or not at all.

    `key` is the id that both halves share. `by_client`: the caller runs the call, so that the
    output may come at any time; the result of other calls comes before a person speaks again.
    """

    key: str
    is_result: bool
    by_client: bool = False


@dataclass(frozen=True, slots=True)
class CacheMarks:
    """Marks for a prompt cache: the member of a block, and how many a request may have."""

    name: str
    most: int


def keeping(*kinds: str) -> Callable[[Opaque], bool]:
    """Returns a test for opaque blocks of these kinds."""
    return lambda block: block.kind in kinds


def _no_half(_: Opaque) -> Half | None:
    return None


def _no_caller(_: Json) -> str | None:
    return None


@dataclass(frozen=True, slots=True)
class Profile:
    """The demands of one wire. Defaults are the laxest wire there is.

    Order of messages
      verbatim            stored turns are shown as they are; nothing below applies
      results             a message for each result, one for all, or inside the user message
      results_alone       … and such a message holds nothing else
      system              leading system turns stand in line, or are given beside the messages
      inner_system        later system turns stand in line, or become marked user text
      alternate           roles whose neighbouring messages must be one
      first_user          the first message must be the user's
      user_after_results  a user message may stand directly behind results
      last                who may speak last in what is sent: anybody; the user or a tool; or the
                          assistant as well, in a message that is marked as a prefix
      trims_end           that a history ends with the assistant is reported, and it ends there
                          without blanks
      calls_last          nothing may follow the calls of an assistant message
      pins_blocks         … unless signed thinking, which pins every block to its place
    Calls and results
      ids, names          what a call's id and a tool's name may look like
      assigns_ids         calls are named by a rule of the wire's own
      blank_results       a result may be empty
      value_results       a result may be a JSON value
      object_results      … but only an object; other values are wrapped in one
      error_flag          the wire has a flag for failed results
      result_text         how many characters a result may have
      tools_declared      tools that the history calls must be declared in the request
    What only its issuer may see again
      wire, issuers       the shape of its native blocks, and who issues them
      home                its own turns come back as they were posted
      home_system         … system messages too, in line, where others' stand next to the messages
      keeps_opaque        which opaque blocks it takes in user messages of the neutral form
      server_state        kinds of opaque blocks that refer to what the provider may have stored
      cache_marks         marks for a prompt cache, which it takes only so many of
      half                whether an opaque block is one half of a pair
      caller              the key of the half that made a posted call, if the provider's tool did
      thinking            its own thinking may stand in the history
      plain_reasoning     reasoning is plain text that its issuer wants back
      demands_reasoning   … on every assistant message, if only an empty one
      splits_rounds       a call that thinking led to begins a round of its own
      model_bound         its reasoning is signed or encrypted for the model that issued it
      leads_on            thinking stands only in front of the very block it led to
      signature           stands on the first call of a message that has no thought signature,
                          for the models that `signed_models` says yes to
      foreign_loops       a tool round begun by others may go on with thinking enabled
    Media
      images, files       media types it takes; "url" in them: addresses too
      named_files         files that have a name there: by address ("url"), or held ("data")
      image_bytes, image_pixels   the largest image, and its longest side
      result_media        images may stand inside results
      result_opaque       kinds of opaque blocks that may too, where their issuer reads them
    """

    verbatim: bool = False
    results: Literal["each", "together", "user"] = "each"
    results_alone: bool = False
    system: Literal["inline", "beside"] = "inline"
    inner_system: Literal["inline", "user"] = "inline"
    alternate: frozenset[str] = frozenset()
    first_user: bool = False
    user_after_results: bool = True
    last: Literal["anybody", "user", "prefix"] = "anybody"
    trims_end: bool = False
    calls_last: bool = False
    pins_blocks: bool = False

    ids: re.Pattern[str] = re.compile(r".{1,}", re.DOTALL)
    names: re.Pattern[str] = re.compile(r"[a-zA-Z0-9_-]{1,64}")
    assigns_ids: bool = False
    blank_results: bool = True
    value_results: bool = False
    object_results: bool = False
    error_flag: bool = False
    result_text: int = 10_485_760
    tools_declared: bool = False

    wire: str = ""
    issuers: frozenset[str] = frozenset()
    home: bool = False
    home_system: bool = False
    keeps_opaque: Callable[[Opaque], bool] = keeping()
    opaque_kinds: frozenset[str] | None = None
    server_state: frozenset[str] = frozenset()
    cache_marks: CacheMarks | None = None
    half: Callable[[Opaque], Half | None] = _no_half
    caller: Callable[[Json], str | None] = _no_caller
    thinking: bool = False
    plain_reasoning: bool = False
    demands_reasoning: bool = False
    splits_rounds: bool = False
    model_bound: bool = False
    leads_on: bool = False
    signature: str | None = None
    signed_models: re.Pattern[str] = re.compile(r".*", re.DOTALL)
    foreign_loops: bool = True

    images: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    named_files: frozenset[str] = frozenset({"data", "url"})
    image_bytes: int = 20 * 1024 * 1024
    image_pixels: int = 100_000
    result_media: bool = False
    result_opaque: frozenset[str] = frozenset()
