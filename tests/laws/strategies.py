"""Random histories, as the JSON texts of POST bodies.

A `_Story` keeps what was said so far, because results answer calls: late, early, twice, under the
raw id, under the canonical id, or under whatever id a replay for another provider showed.

What makes up one turn is chosen by a seed, and hypothesis draws that: it takes needless turns out
of a failing history and makes others plain, and draws far less than where each choice is its own.
With `TURNKEEP_LAWS=long` it draws every choice itself and can simplify turns, too.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from random import Random
from typing import Literal, TypeAlias, TypeVar, get_args

from hypothesis import strategies as st

from app.formats.registry import CODECS, TARGETS, provider_id
from tests.histories import posted
from tests.laws import values
from tests.laws.said import (
    Answer,
    Odd,
    Paper,
    Picture,
    Piece,
    Said,
    Speaker,
    Thought,
    Use,
    Wire,
    WireObject,
    Words,
    written,
)
from tests.laws.wires import WRITERS

Bodies: TypeAlias = tuple[str, ...]
T = TypeVar("T")


@dataclass(frozen=True)
class Voice:
    """Who posts, in which shape, by which model."""

    provider: str
    format: str | None = None
    model: str | None = None

    @property
    def wire(self) -> str:
        return self.format or self.provider


OWN = [Voice(wire) for wire in WRITERS]
VOICES = (
    *sorted(OWN, key=lambda voice: voice.provider != "openai"),
    *(Voice("acme", wire) for wire in WRITERS),
    *(Voice(provider, "openai") for provider in ("anthropic", "gemini")),
    Voice("openai", "anthropic"),
    Voice("anthropic", model="claude-a"),
    Voice("anthropic", model="claude-b"),
    Voice("gemini", model="gemini-2.5-pro"),
    Voice("kimi", model="kimi-k2-thinking"),
)
# Only the neutral form has notes.
NEUTRAL = Voice("neutral")
ISSUERS = (None, *sorted(CODECS), "acme")
# Drawn as often as they stand here.
HUMAN = ("words", "words", "words", "blank", "picture", "paper", "odd")
AI = ("words", "thought", "thought", "blank", "words", "picture", "server", "odd")
SYSTEM = ("words", "words", "blank", "picture", "odd")
NOTE = ("words", "words", "blank", "picture", "paper", "odd")
BESIDE = ("words", "picture", "paper", "blank")
Seal: TypeAlias = Literal["signed", "unsigned", "empty", "redacted"]
Status: TypeAlias = Literal["ok", "error", "denied", "interrupted", "unknown"]
SEALS: tuple[Seal, ...] = get_args(Seal)
STATUSES: tuple[Status, ...] = ("ok", "ok", "ok", *get_args(Status))


Choose: TypeAlias = Callable[[int], int]
EVERY_CHOICE_IS_DRAWN = os.environ.get("TURNKEEP_LAWS") == "long"


@cache
def _up_to(most: int) -> st.SearchStrategy[int]:
    return st.integers(0, most)


# Hypothesis draws numbers of more bits small more often than not; many seeds would be the same.
_SEEDS = st.integers(0, 2**24 - 1)


def _choosing(draw: st.DrawFn) -> Choose:
    """How the choices of one turn are made: each is a number up to a limit, 0 the plainest."""
    if EVERY_CHOICE_IS_DRAWN:
        return lambda most: draw(_up_to(most))
    seed = draw(_SEEDS)
    chance = Random(seed)
    return (lambda most: chance.randrange(most + 1)) if seed else (lambda most: 0)


@dataclass
class _Story:
    number: Choose
    voice: Voice = VOICES[0]
    said: list[tuple[Voice, Said]] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    unanswered: list[Use] = field(default_factory=list)
    promised: list[str] = field(default_factory=list)
    markers: int = 0

    def one_of(self, options: Sequence[T]) -> T:
        return options[self.number(len(options) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.number(one_in - 1) == one_in - 1

    def shuffled(self, given: Sequence[T]) -> list[T]:
        rest = list(given)
        return [rest.pop(self.number(len(rest) - 1)) for _ in given]

    def marker(self) -> str:
        self.markers += 1
        return f"~{self.markers}~"

    def filled(self, options: Sequence[str]) -> str:
        return self.one_of(options).format(m=self.marker())

    def pieces(self, kinds: Sequence[str], most: int, least: int = 1) -> list[Piece]:
        count = least + self.number(most - least)
        return [piece for _ in range(count) for piece in self.piece(self.one_of(kinds))]

    def piece(self, kind: str) -> list[Piece]:
        makers: dict[str, Callable[[], list[Piece]]] = {
            "words": lambda: [Words(self.filled(values.TEXTS))],
            "blank": lambda: [Words(self.one_of(values.BLANKS))],
            "picture": lambda: [Picture(self.one_of(values.pictures(self.marker())))],
            "paper": lambda: [self.paper()],
            "thought": lambda: [Thought(self.filled(values.TEXTS), self.one_of(SEALS))],
            "server": self.server_tool,
            "odd": lambda: [Odd("other", self.marker())],
        }
        return makers[kind]()

    def paper(self) -> Paper:
        url = self.one_of(values.papers(self.marker()))
        return Paper(url, self.one_of(values.FILE_NAMES) if self.chance(3) else "notes")

    def server_tool(self) -> list[Piece]:
        """A tool that the provider ran itself: call and result, or half of the pair."""
        use_marker, found_marker = self.marker(), self.marker()
        tool_id = "srvtoolu_" + self.one_of(("1", "2", use_marker.strip("~")))
        pair: list[Piece] = [Odd("use", use_marker, tool_id), Odd("found", found_marker, tool_id)]
        return self.one_of((pair, pair[:1], pair[1:], pair[::-1]))

    def use(self, place: int) -> Use:
        form = self.one_of(values.IDS)
        given = form.format(k=len(self.uses), n=place) if form is not None else None
        if self.promised and self.chance(2):
            given = self.promised.pop()
        name = self.one_of(values.NAMES) if self.chance(3) else "read"
        call = Use(given, name, self.filled(values.ARGUMENTS))
        self.uses.append(call)
        self.unanswered.append(call)
        return call

    def ai(self) -> Said:
        pieces = self.pieces(AI, 3, least=0)
        for place in range(self.number(3)):
            at = len(pieces) if not self.chance(3) else self.number(len(pieces))
            pieces.insert(at, self.use(place))
        return replace(self.by("ai", pieces), broken_off=self.chance(8))

    def by(self, speaker: Speaker, pieces: Sequence[Piece]) -> Said:
        issuer = self.one_of(ISSUERS) if self.chance(3) else None
        turn_id = f"t-{len(self.said)}" if self.chance(5) else None
        return Said(speaker, tuple(pieces), issuer, turn_id)

    def answers(self) -> Said:
        """Results of open calls in any order, some lost, some repeated, with things beside them."""
        order = self.shuffled(self.unanswered)
        pieces: list[Piece] = [self.answer(call) for call in order if not self.chance(6)]
        if self.chance(4) and self.uses:
            pieces.append(self.answer(self.one_of(self.uses)))
        if self.chance(8) or not pieces:
            pieces.append(self.stray())
        if self.chance(4):
            beside = self.pieces(BESIDE, 2)
            at = self.number(len(pieces))
            pieces[at:at] = beside
        return self.by("human" if self.chance(10) else "tool", pieces)

    def stray(self) -> Answer:
        """A result whose call is not known, or not known yet."""
        early = f"early_{len(self.said)}"
        self.promised.append(early)
        return self.outcome(self.one_of((early, "nobody", None)), None)

    def answer(self, call: Use) -> Answer:
        if call in self.unanswered:
            self.unanswered.remove(call)
        return self.outcome(self.returned_id(call), self.one_of((None, None, call.name, "other")))

    def returned_id(self, call: Use) -> str | None:
        how = self.one_of(("raw", "raw", "raw", "raw", "decorated", "missing", "shown"))
        if how == "missing":
            return None
        if how == "shown":
            return self.shown(call)
        form = self.one_of(values.DECORATIONS) if how == "decorated" else "{id}"
        return form.replace("{id}", call.id) if call.id is not None else None

    def shown(self, call: Use) -> str | None:
        """The id under which a replay for some target shows the call now."""
        known = list(posted(*self.bodies()).remembered.ledger.calls.values())
        place = next(at for at, one in enumerate(self.uses) if one is call)
        # A wire that cannot carry a call (a human's, say) leaves fewer calls than were meant.
        if place >= len(known):
            return call.id
        return provider_id(self.one_of(TARGETS), known[place].id, known[place].provider_ids)

    def outcome(self, call_id: str | None, name: str | None) -> Answer:
        status = self.one_of(STATUSES)
        error = self.filled(values.TEXTS) if self.chance(6) else None
        if not self.chance(4):
            value = self.one_of(values.RESULTS).format(m=self.marker())
            return Answer(call_id, value, None, status, error, name)
        parts: list[Words | Picture | Paper | Odd] = []
        for piece in self.pieces((*BESIDE, "odd"), 3):
            assert isinstance(piece, Words | Picture | Paper | Odd)
            parts.append(piece)
        return Answer(call_id, '""', tuple(parts), status, error, name)

    def healthy_round(self, voice: Voice) -> list[Said]:
        """One to three calls under ids as the provider gives them, and their results."""
        count = len(self.uses)
        uses = [
            Use(_own_id(voice, count + n), "read", f'{{"q":"{self.marker()}"}}')
            for n in range(1 + self.number(2))
        ]
        self.uses += uses
        answers = [Answer(use.id, f'"{self.marker()}"', name=use.name) for use in uses]
        return [Said("ai", tuple(uses)), Said("tool", tuple(answers))]

    def note(self) -> tuple[Voice, Said]:
        return NEUTRAL, self.by("note", self.pieces(NOTE, 2))

    def go_on(self, voice: Voice) -> None:
        if self.chance(9):
            self.said.append(self.note())
            return
        kinds = ("human", "answers", "ai", "ai", "answers", "system")
        # Most calls are answered at once, as in real life.
        kind = "answers" if self.unanswered and self.chance(2) else self.one_of(kinds)
        if kind == "ai":
            said = self.ai()
        elif kind == "answers" and (self.uses or self.chance(4)):
            said = self.answers()
        elif kind == "system":
            said = self.by("system", self.pieces(SYSTEM, 2))
        else:
            said = self.by("human", self.pieces(HUMAN, 3))
        self.said.append((voice, said))

    def bodies(self) -> list[str]:
        return [body(voice, [said]) for voice, said in self.said]


def _own_id(voice: Voice, count: int) -> str:
    forms = {"kimi": "functions.read:{}", "mistral": "Abc{:06d}", "anthropic": "toolu_{:024d}"}
    return forms.get(voice.provider, "call_{:024d}").format(count)


def body(voice: Voice, group: Sequence[Said], *, spaced: bool = False) -> str:
    """The JSON text of one POST."""
    writer, codec = WRITERS[voice.wire], CODECS[voice.wire]
    envelope: WireObject = {"provider": voice.provider}
    if voice.format:
        envelope["format"] = voice.format
    if voice.model:
        envelope["model"] = voice.model
    first = group[0]
    if writer.beside and len(group) > 1 and _is_instruction(first):
        words = first.pieces[0]
        assert isinstance(words, Words)
        envelope[writer.beside] = writer.shape(words.text)
        group = group[1:]
    messages: list[Wire] = [message for said in group for message in writer.write(said)]
    if len(messages) == 1 and voice.wire != "neutral" and first.turn_id and first in group:
        envelope["turn_id"] = first.turn_id
    key = "messages" if "messages" in codec.keys else codec.messages
    return written({**envelope, key: messages}, spaced=spaced)


def _is_instruction(said: Said) -> bool:
    return said.speaker == "system" and len(said.pieces) == 1 and isinstance(said.pieces[0], Words)


@st.composite
def histories(draw: st.DrawFn, most: int = 14) -> Bodies:
    """A whole history of at most `most` turns, in one POST or in many."""
    story = _Story(_choosing(draw))
    for _ in range(most):
        if draw(_ends(story)):
            break
    story.number = _choosing(draw)
    return _grouped(story)


@st.composite
def one_voice(draw: st.DrawFn, wire: str, most: int = 10) -> Bodies:
    """A history that is posted in one provider's own format."""
    story = _Story(_choosing(draw), Voice(wire, model="m"))
    for _ in range(1 + draw(_up_to(most - 1))):
        story.number = _choosing(draw)
        before = len(story.said)
        story.go_on(story.voice)
        story.said[before:] = [one for one in story.said[before:] if one[0] is not NEUTRAL]
    return tuple(text for text in story.bodies() if '"messages":[]' not in text)


@st.composite
def _ends(draw: st.DrawFn, story: _Story) -> bool:
    """Says one more thing, or ends. A step of its own, so that hypothesis can take it out."""
    if not draw(_up_to(9)):
        return True
    story.number = _choosing(draw)
    if not story.said or story.chance(4):
        story.voice = story.one_of(VOICES)
    story.go_on(story.voice)
    return False


def _grouped(story: _Story) -> Bodies:
    groups: list[tuple[Voice, list[Said]]] = []
    for voice, said in story.said:
        if groups and groups[-1][0] == voice and story.chance(3):
            groups[-1][1].append(said)
        else:
            groups.append((voice, [said]))
    return tuple(body(voice, group, spaced=story.chance(6)) for voice, group in groups)


@st.composite
def healthy_histories(draw: st.DrawFn, most: int = 5) -> Bodies:
    """Nothing is wrong: speakers alternate, every call is answered at once, in call order."""
    story = _Story(_choosing(draw))
    voice = story.one_of(OWN)
    # Converse has no place in the line for what the system says.
    if story.chance(2) and voice.wire != "bedrock":
        story.said.append((voice, Said("system", (Words(story.marker()),))))
    for _ in range(1 + draw(_up_to(most))):
        story.number = _choosing(draw)
        if story.chance(3):
            voice = story.one_of(OWN)
        story.said.append((voice, Said("human", (Words(f"{story.marker()} please"),))))
        for _ in range(story.number(2)):
            for said in story.healthy_round(voice):
                story.said.append((voice, said))
                if story.chance(6):
                    story.said.append(story.note())
        story.said.append((voice, Said("ai", (Words(f"{story.marker()} done"),))))
    return tuple(story.bodies())


@dataclass(frozen=True)
class Rounds:
    """A history that ends with calls, and the results that are yet to come."""

    voice: Voice
    bodies: Bodies
    answers: tuple[Answer, ...]


@st.composite
def rounds(draw: st.DrawFn) -> Rounds:
    """Calls with ids of their own, whose results name them by any id that is theirs."""
    story = _Story(_choosing(draw))
    voice = story.one_of(OWN)
    story.said.append((voice, Said("human", (Words(story.marker()),))))
    for _ in range(story.number(1)):
        story.said += [(voice, said) for said in story.healthy_round(voice)]
    uses = [
        Use(f"own-{n}", "read", story.filled(values.ARGUMENTS)) for n in range(story.number(3) + 1)
    ]
    story.uses += uses
    story.said.append((voice, Said("ai", tuple(uses))))
    ids = [story.one_of((use.id, story.shown(use))) for use in uses]
    answers = tuple(story.outcome(one, None) for one in ids)
    if voice.wire == "gemini":
        # Its results hold no media; what stands beside them is the user's, in order of arrival.
        answers = tuple(replace(answer, parts=None) for answer in answers)
    return Rounds(voice, tuple(story.bodies()), answers)
