import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from midcall import MalformedAnswer
from midcall.client import DoesNotFit, NotPending, Pending

pending = Pending()  # pass it to connect(...) or callback(...), in the same event loop


async def questions(request: Request) -> Response:
    """The pending questions, in order."""
    return JSONResponse([asked.as_data() for asked in pending.open])


async def changes(request: Request) -> Response:
    """Stream changes (opened, answered, withdrawn) to a live page."""

    async def lines() -> AsyncIterator[str]:
        async for change in pending.changes():
            yield f"data: {json.dumps(change.as_data())}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def answers(request: Request) -> Response:
    """Takes {"id": ..., "action": "accept", "content": {...}}."""
    try:
        pending.receive(await request.json())
    except DoesNotFit as error:
        return JSONResponse({"problems": error.as_data()}, 422)  # still pending: let the user correct it
    except NotPending as error:
        return JSONResponse({"error": str(error)}, 404)
    except (MalformedAnswer, json.JSONDecodeError) as error:
        return JSONResponse({"error": str(error)}, 400)
    return Response(status_code=204)


app = Starlette(
    routes=[
        Route("/questions", questions),
        Route("/changes", changes),
        Route("/answers", answers, methods=["POST"]),
    ]
)
