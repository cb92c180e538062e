"""The same service as a textbook has it: ORM, a transaction for each request, models in and out.

`python -m bench.textbook PORT` serves the database that `TEXTBOOK_URL` names, SQLite or
PostgreSQL, with the same durability as Turnkeep. It keeps messages and their tool calls, checks the
shape of what it gets, and gives the messages back in the shape they had: no ids of its own, no
other providers, no retries, no search.
"""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from fastapi import Depends, FastAPI, HTTPException
from pydantic import BaseModel, ConfigDict
from sqlalchemy import Engine, ForeignKey, UniqueConstraint, create_engine, event, select
from sqlalchemy.engine import make_url
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Conversation(Base):
    __tablename__ = "conversations"
    id: Mapped[str] = mapped_column(primary_key=True)
    version: Mapped[int] = mapped_column(default=0)


class Turn(Base):
    __tablename__ = "turns"
    __table_args__ = (UniqueConstraint("conversation_id", "seq"),)
    id: Mapped[int] = mapped_column(primary_key=True)
    conversation_id: Mapped[str] = mapped_column(ForeignKey("conversations.id"))
    seq: Mapped[int]
    role: Mapped[str]
    content: Mapped[str | None]
    tool_call_id: Mapped[str | None]
    tool_calls: Mapped[list["Call"]] = relationship(lazy="selectin", order_by="Call.id")


class Call(Base):
    __tablename__ = "calls"
    id: Mapped[int] = mapped_column(primary_key=True)
    turn_id: Mapped[int] = mapped_column(ForeignKey("turns.id"), index=True)
    raw_id: Mapped[str]
    name: Mapped[str]
    arguments: Mapped[str]


class FunctionIO(BaseModel):
    name: str
    arguments: str


class CallIO(BaseModel):
    id: str
    type: str = "function"
    function: FunctionIO


class MessageIO(BaseModel):
    role: str
    content: str | None = None
    tool_call_id: str | None = None
    tool_calls: list[CallIO] | None = None


class PostIn(BaseModel):
    provider: str
    messages: list[MessageIO]


class TurnOut(BaseModel):
    model_config = ConfigDict(from_attributes=True)
    id: int
    seq: int
    role: str


class AppendedOut(BaseModel):
    conversation_id: str
    version: int
    turns: list[TurnOut]


class ReplayOut(BaseModel):
    conversation_id: str
    version: int
    messages: list[MessageIO]


def _engine(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() == "postgresql":
        return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_size=40)
    engine = create_engine(url, connect_args={"timeout": 60}, pool_size=40)

    @event.listens_for(engine, "connect")
    def durable(connection: Any, _: object) -> None:
        connection.isolation_level = None
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


engine = _engine(os.environ["TEXTBOOK_URL"])


def _reading() -> Iterator[Session]:
    with Session(engine) as session:
        yield session


def _writing() -> Iterator[Session]:
    with Session(engine.execution_options(writes=True)) as session:
        yield session


Reading = Annotated[Session, Depends(_reading)]
Writing = Annotated[Session, Depends(_writing)]


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    Base.metadata.create_all(engine)
    yield
    engine.dispose()


app = FastAPI(lifespan=_lifespan)


@app.get("/readyz")
def ready() -> dict[str, str]:
    return {}


@app.post("/v1/conversations/{cid}/turns", status_code=201)
def append(cid: str, post: PostIn, session: Writing) -> AppendedOut:
    conversation = session.get(Conversation, cid, with_for_update=True)
    if conversation is None:
        conversation = Conversation(id=cid, version=0)
        session.add(conversation)
    turns = []
    for message in post.messages:
        conversation.version += 1
        turns.append(_turn(cid, conversation.version, message))
    session.add_all(turns)
    session.commit()
    return AppendedOut(
        conversation_id=cid,
        version=conversation.version,
        turns=[TurnOut.model_validate(turn) for turn in turns],
    )


@app.get("/v1/conversations/{cid}/replay")
def replay(cid: str, session: Reading) -> ReplayOut:
    conversation = session.get(Conversation, cid)
    if conversation is None:
        raise HTTPException(404)
    turns = session.scalars(select(Turn).where(Turn.conversation_id == cid).order_by(Turn.seq))
    return ReplayOut(
        conversation_id=cid, version=conversation.version, messages=[_message(one) for one in turns]
    )


def _turn(cid: str, seq: int, message: MessageIO) -> Turn:
    calls = [
        Call(raw_id=call.id, name=call.function.name, arguments=call.function.arguments)
        for call in message.tool_calls or ()
    ]
    return Turn(
        conversation_id=cid,
        seq=seq,
        role=message.role,
        content=message.content,
        tool_call_id=message.tool_call_id,
        tool_calls=calls,
    )


def _message(turn: Turn) -> MessageIO:
    calls = [
        CallIO(id=call.raw_id, function=FunctionIO(name=call.name, arguments=call.arguments))
        for call in turn.tool_calls
    ]
    return MessageIO(
        role=turn.role,
        content=turn.content,
        tool_call_id=turn.tool_call_id,
        tool_calls=calls or None,
    )


if __name__ == "__main__":
    uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
