from typing import Any

from tests.mistakes.mistake import CONTENT, TOOLS, Mistake, posted, user

TITLE = "Tools and conversions"
TOOL = {
    "type": "function",
    "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}},
}


def put(title: str, **body: Any) -> Mistake:
    return Mistake(title, "PUT", TOOLS, body)


def converted(title: str, what: str, **body: Any) -> Mistake:
    # `from` is a word of Python's.
    named = {"from" if key == "source" else key: value for key, value in body.items()}
    return Mistake(title, "POST", f"/v1/convert/{what}", named)


MISTAKES = [
    put("The tools are forgotten", provider="openai"),
    put("The provider of the tools is forgotten", tools=[TOOL]),
    put("The provider of the tools is misspelt", provider="antropic", tools=[TOOL]),
    put("The tools are called functions", provider="openai", functions=[TOOL]),
    put("The tools are a text", provider="openai", tools=CONTENT),
    put(
        "The tool choice is another provider's", provider="openai", tools=[TOOL], tool_choice="any"
    ),
    put("The tool choice in camelCase", provider="openai", tools=[TOOL], toolChoice="auto"),
    put("Strict is a word", provider="openai", tools=[TOOL], strict="yes"),
    put("A tool without a name, strictly", provider="openai", tools=[{}], strict=True),
    posted("A tool choice without tools", "openai", user(), tool_choice="auto"),
    Mistake("Tools for nobody", "GET", TOOLS),
    Mistake("Tools for an unknown provider", "GET", f"{TOOLS}?provider=claude"),
    converted("The source is forgotten", "messages", to="openai", messages=[user()]),
    converted("The target is forgotten", "messages", source="openai", messages=[user()]),
    converted("The source is misspelt", "messages", source="opnai", to="openai", messages=[]),
    converted("The target is a model", "messages", source="openai", to="claude", messages=[]),
    converted("The source is an object", "messages", source=user(), to="openai"),
    converted("The target is an object", "messages", source="openai", to=user(), messages=[]),
    converted("The source is called provider", "messages", provider="openai", to="kimi"),
    converted("Messages are forgotten", "messages", source="openai", to="anthropic"),
    converted(
        "Reasoning of a conversion by another word",
        "messages",
        source="openai",
        to="kimi",
        messages=[user()],
        reasoning="keep",
    ),
    converted("Tools are forgotten", "tools", source="openai", to="anthropic"),
    converted("Tools for an unknown target", "tools", source="openai", to="llama", tools=[]),
    converted(
        "Required by another word", "tools", source="openai", to="kimi", tools=[], required="drop"
    ),
    converted("A tool id for nobody", "tool-id", id="call_1"),
    converted("A tool id for an unknown target", "tool-id", id="call_1", to="kimi"),
    converted("A tool id that is a number", "tool-id", id=1, to="openai"),
    converted("A tool id that is forgotten", "tool-id", to="openai"),
    converted("A tool id under another name", "tool-id", tool_id="call_1", to="openai"),
]
