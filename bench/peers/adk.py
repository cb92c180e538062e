"""Google's Agent Development Kit: `DatabaseSessionService`."""

import json
from typing import Any

from google.adk.events import Event
from google.adk.sessions import DatabaseSessionService, Session
from google.genai import types

from bench.turns import Message


def content(message: Message) -> types.Content:
    """A message as the content of an event."""
    text: Any = message["content"]
    if message["role"] == "tool":
        response = types.FunctionResponse(
            id=str(message["tool_call_id"]), name="write_file", response={"result": text}
        )
        return types.Content(role="user", parts=[types.Part(function_response=response)])
    calls: Any = message.get("tool_calls", ())
    parts = [types.Part(text=text)] + [
        types.Part(
            function_call=types.FunctionCall(
                id=one["id"],
                name=one["function"]["name"],
                args=json.loads(one["function"]["arguments"]),
            )
        )
        for one in calls
    ]
    return types.Content(role="user" if message["role"] == "user" else "model", parts=parts)


class Service:
    """`DatabaseSessionService`. An agent holds its session while it runs, and so does this."""

    def __init__(self, url: str) -> None:
        driver = "sqlite+aiosqlite" if url.startswith("sqlite") else "postgresql+asyncpg"
        self._service = DatabaseSessionService(f"{driver}:{url.partition(':')[2]}")
        self._sessions: dict[str, Session] = {}

    async def append(self, session: str, message: Message) -> None:
        if session not in self._sessions:
            self._sessions[session] = await self._service.create_session(
                app_name="bench", user_id="bench", session_id=session
            )
        event = Event(author=str(message["role"]), content=content(message))
        await self._service.append_event(self._sessions[session], event)

    async def load(self, session: str) -> object:
        found = await self._service.get_session(
            app_name="bench", user_id="bench", session_id=session
        )
        assert found is not None
        return [event.content for event in found.events]
