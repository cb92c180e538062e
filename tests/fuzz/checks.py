"""What must hold for every body, however wrong it is."""

import json
from random import Random
from typing import Any

from fastapi.testclient import TestClient

from app.convert.queries import convert_messages
from app.edge.problems import status_of
from app.formats.registry import TARGETS
from app.jsontext.reading import loads_object
from app.jsontext.writing import dumps_utf8
from app.model.errors import TurnkeepError
from app.model.limits import Limits
from tests.fuzz.bodies import body

# A problem is read by people.
LONGEST = 4_000


class Defect(AssertionError):
    """A body that the service was not built for; its seed makes it again."""


def converted(seed: int) -> bool:
    """Reads a body and renders it for some target; False where it is refused, as it may be."""
    random = Random(seed)
    given = body(random)
    given["from"] = given.pop("provider", None)
    given["to"] = random.choice(TARGETS)
    text = json.dumps(given)
    try:
        answers = [_convert(text) for _ in "12"]
    except TurnkeepError as error:
        if status_of(type(error)) >= 500 or len(error.detail) > LONGEST:
            raise Defect(f"seed {seed}: {error.detail[:200]}") from error
        return False
    except Exception as error:
        raise Defect(f"seed {seed}: {type(error).__name__}: {error}") from error
    if answers[0] != answers[1]:
        raise Defect(f"seed {seed}: other bytes the second time")
    json.loads(answers[0])
    return True


def _convert(text: str) -> bytes:
    members, texts = loads_object(text, Limits())
    return dumps_utf8(convert_messages(members, texts, Limits()))


def stored(http: TestClient, seed: int, cid: str) -> bool:
    """Posts a body to a conversation and reads it for some target."""
    random = Random(seed)
    text = json.dumps(body(random))
    headers = {"content-type": "application/json"}
    posted = http.post(f"/v1/conversations/{cid}/turns", content=text, headers=headers)
    _demand(posted, seed, 200, 201, 400, 409, 413, 422)
    target = random.choice(TARGETS)
    replayed = http.get(f"/v1/conversations/{cid}/replay", params={"provider": target})
    _demand(replayed, seed, 200, 404)
    return bool(posted.status_code == 201)


def verified(http: TestClient, cid: str) -> None:
    report = http.get(f"/v1/conversations/{cid}/verify")
    if report.status_code not in (200, 404) or not report.json().get("ok", True):
        raise Defect(f"conversation {cid}: {report.text[:500]}")


def _demand(answer: Any, seed: int, *statuses: int) -> None:
    if answer.status_code not in statuses or (
        answer.status_code >= 400 and len(answer.text) > LONGEST
    ):
        raise Defect(f"seed {seed}: {answer.status_code} {answer.text[:300]}")
