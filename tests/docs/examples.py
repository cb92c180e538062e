"""The examples of docs/http.md, one for each operation, as a reader runs them.

They are run in the order of the page, behind `BEFORE`, in one shell. A stream that does not end by
itself needs an example that does: `curl -sN --max-time 1 … || true`.
"""

BEFORE = r"""
TURNKEEP=http://127.0.0.1:8420
JSON='content-type: application/json'
curl -s $TURNKEEP/v1/conversations/c1/turns -H "$JSON" -o /dev/null -d '
  {"provider": "openai", "model": "gpt-5", "turn_ids": ["t1", "t2", "t3"], "messages": [
    {"role": "user", "content": "What is the weather in Paris?"},
    {"role": "assistant", "content": null, "tool_calls": [
      {"id": "call_1", "type": "function",
       "function": {"name": "weather", "arguments": "{\"city\": \"Paris\"}"}}]},
    {"role": "tool", "tool_call_id": "call_1", "content": "sunny"}]}'
"""

EXAMPLES = {
    "create_conversation": r"""
curl -s $TURNKEEP/v1/conversations -H "$JSON" -d '
  {"id": "c2", "title": "A trip to Rome", "metadata": {"team": "blue"}}'
""",
    "list_conversations": r"""
curl -s "$TURNKEEP/v1/conversations?order=updated&limit=10&q=rome&metadata.team=blue"
""",
    "get_conversation": r"""
curl -s $TURNKEEP/v1/conversations/c1
""",
    "change_conversation": r"""
curl -s -X PATCH $TURNKEEP/v1/conversations/c1 -H "$JSON" -d '{"title": "Weather"}'
""",
    "erase_conversation": r"""
curl -s -X DELETE $TURNKEEP/v1/conversations/c2
""",
    "verify_conversation": r"""
curl -s $TURNKEEP/v1/conversations/c1/verify
""",
    "listen_to_conversation": r"""
curl -sN --max-time 1 "$TURNKEEP/v1/conversations/c1/events" || true
""",
    "append_turns": r"""
curl -s $TURNKEEP/v1/conversations/c1/turns -H "$JSON" -H 'Idempotency-Key: 3f1c' -d '
  {"provider": "anthropic", "turn_id": "t4",
   "messages": [{"role": "user", "content": "And in Rome?"}]}'
""",
    "list_turns": r"""
curl -s "$TURNKEEP/v1/conversations/c1/turns?order=desc&limit=2"
""",
    "append_stream": r"""
curl -s "$TURNKEEP/v1/conversations/c1/turns/stream?provider=openai&turn_id=t5&return=turns" \
  -H 'content-type: text/event-stream' --data-binary @- <<'END'
data: {"id": "chatcmpl-1", "model": "gpt-5", "choices": [{"delta": {"content": "Rainy"}}]}

data: {"choices": [{"delta": {"content": "."}, "finish_reason": "stop"}]}

data: [DONE]

END
""",
    "get_turn": r"""
curl -s $TURNKEEP/v1/conversations/c1/turns/t2
""",
    "replay_conversation": r"""
curl -s "$TURNKEEP/v1/conversations/c1/replay?provider=anthropic"
""",
    "put_tools": r"""
curl -s -X PUT $TURNKEEP/v1/conversations/c1/tools -H "$JSON" -d '
  {"provider": "openai", "tools": [{"type": "function", "function": {
    "name": "weather", "description": "The weather.", "parameters": {
      "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]}'
""",
    "get_tools": r"""
curl -s "$TURNKEEP/v1/conversations/c1/tools?provider=anthropic"
""",
    "list_tool_calls": r"""
curl -s "$TURNKEEP/v1/conversations/c1/tool-calls?state=answered"
""",
    "lookup_tool_calls": r"""
curl -s "$TURNKEEP/v1/tool-calls/lookup?id=chatcmpl-1"
""",
    "convert_messages": r"""
curl -s $TURNKEEP/v1/convert/messages -H "$JSON" -d '
  {"from": "openai", "to": "gemini", "messages": [{"role": "user", "content": "Hello"}]}'
""",
    "convert_tools": r"""
curl -s $TURNKEEP/v1/convert/tools -H "$JSON" -d '
  {"from": "anthropic", "to": "openai", "tools": [{"name": "weather", "description": "The weather.",
    "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}}}]}'
""",
    "convert_tool_id": r"""
curl -s $TURNKEEP/v1/convert/tool-id -H "$JSON" -d '{"id": "call_abc123", "to": "anthropic"}'
""",
    "get_health": r"""
curl -s $TURNKEEP/healthz
""",
    "get_readiness": r"""
curl -s $TURNKEEP/readyz
""",
    "get_metrics": r"""
curl -s $TURNKEEP/metrics | grep '^turnkeep_commits_total'
""",
}
