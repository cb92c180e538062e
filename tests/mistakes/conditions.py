from tests.mistakes.mistake import JSON, TURNS, Mistake, posted, user

TITLE = "Ids, keys and versions"
BODY = {"provider": "openai", "messages": [user()]}


def conditional(title: str, name: str, value: str) -> Mistake:
    return Mistake(title, "POST", TURNS, BODY, {name: value})


MISTAKES = [
    Mistake("A conversation id with a slash", "POST", "/v1/conversations/a%2Fb/turns", BODY),
    Mistake("A conversation id with a space", "POST", "/v1/conversations/my%20chat/turns", BODY),
    Mistake(
        "A conversation id that is too long", "POST", f"/v1/conversations/{'x' * 200}/turns", BODY
    ),
    Mistake("A conversation id of two dots", "POST", "/v1/conversations", {"id": ".."}),
    Mistake("A conversation id that is a number", "POST", "/v1/conversations", {"id": 7}),
    Mistake("A conversation id under another name", "POST", "/v1/conversations", {"cid": "c9"}),
    Mistake("A conversation that exists", "POST", "/v1/conversations", {"id": "c1"}),
    Mistake(
        "A conversation under a key, without an id",
        "POST",
        "/v1/conversations",
        {"title": "x"},
        {"Idempotency-Key": "k3"},
    ),
    Mistake("A title that is a number", "POST", "/v1/conversations", {"title": 1}),
    Mistake("A conversation created by nothing", "POST", "/v1/conversations"),
    Mistake("A change that is none", "PATCH", "/v1/conversations/c1", {"name": "x"}),
    Mistake("A change of nothing", "PATCH", "/v1/conversations/c1", "", JSON),
    Mistake("A change of what is absent", "PATCH", "/v1/conversations/nope", {"title": "x"}),
    Mistake("Erasing what is absent", "DELETE", "/v1/conversations/nope"),
    conditional("If-Match is no version", "If-Match", '"abc"'),
    conditional("If-Match is a star", "If-Match", "*"),
    conditional("If-Match is stale", "If-Match", '"1"'),
    conditional("An idempotency key with a space", "Idempotency-Key", "my key"),
    conditional("An idempotency key for another body", "Idempotency-Key", "k1"),
    posted("A turn id that is stored with other content", "openai", user("else"), turn_id="t1"),
    posted(
        "Some of the turns are stored already",
        "neutral",
        {"speaker": "human", "blocks": [], "turn_id": "n1"},
        {"speaker": "human", "blocks": [], "turn_id": "n2"},
    ),
    posted(
        "The same turn id twice",
        "neutral",
        {"speaker": "human", "blocks": [], "turn_id": "same"},
        {"speaker": "human", "blocks": [], "turn_id": "same"},
    ),
]
