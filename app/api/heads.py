"""`HEAD` wherever there is `GET`: the same status and headers, and no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Headed:
    """ASGI middleware: asks the routes for `GET`, and keeps the body to itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        # A copy, because the server goes by the method of its own scope when it counts the body.
        asked = {**scope, "method": "GET", "head": True}
        try:
            await self.app(asked, receive, without_body)
        finally:
            # The route is what the metrics count under.
            scope["route"] = asked.get("route")
