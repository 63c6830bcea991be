import json
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from midcall.client.pending import DoesNotFit, NotPending, Pending
from midcall.errors import MalformedAnswer

pending = Pending()  # hand it to connect(...) or callback(...), in the same event loop


async def questions(request: Request) -> Response:
    """What is open, in order."""
    return JSONResponse([asked.as_data() for asked in pending.open])


async def changes(request: Request) -> Response:
    """Opened, answered, withdrawn: as they happen, for a page that is live."""

    async def lines() -> AsyncIterator[str]:
        async for change in pending.changes():
            yield f"data: {json.dumps(change.as_data())}\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


async def answers(request: Request) -> Response:
    """Takes {"id": ..., "action": "accept", "content": {...}}."""
    try:
        pending.receive(await request.json())
    except DoesNotFit as error:
        return JSONResponse({"problems": error.as_data()}, 422)  # still open: show them, and let it be corrected
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
