"""What midcall adds to a server: middleware that starts a call's run, or continues it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from functools import partial
from types import CoroutineType
from typing import TYPE_CHECKING, Any, Final, cast

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp_types.methods import INPUT_REQUIRED_METHODS

from midcall.core.journal import Foreign
from midcall.protocol import ANSWER, CONTINUE
from midcall.server.channels.apps import requests as apps
from midcall.server.resuming import codes
from midcall.server.resuming.resume import resume
from midcall.server.running.driver import Driver
from midcall.server.running.turn import Given, OwnState
from midcall.stores.quotas import caller

if TYPE_CHECKING:
    from midcall.server.installation import Installation


_NONE: Final[Mapping[str, Any]] = {}


class Calls:
    """Gives each request to its call."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._driver = Driver(installation)

    def serve(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> CoroutineType[Any, Any, HandlerResult]:
        # Not `async`: what it returns is awaited as it is, which saves every request a coroutine.
        if ctx.method not in INPUT_REQUIRED_METHODS or ctx.request_id is None:
            if ctx.method in apps.ABOUT:
                return self._list(ctx, call_next)
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if not _on_asyncio():  # a run is a task of asyncio's; elsewhere the server is as it was
            return cast("CoroutineType[Any, Any, HandlerResult]", call_next(ctx))
        if ctx.request is not None:
            self._installation.check_keys(ctx)
        return (self._route if self._installation.keeping is None else self._serve_with_store)(ctx, call_next)

    async def _list(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """A list, with our own tools in it if a call can be resumed by one."""
        installation = self._installation

        async def listing(ctx: ServerRequestContext[Any, Any]) -> HandlerResult:
            result = await call_next(ctx)
            if ctx.method != "tools/list" or not installation.resumes:
                return result
            if codes.ends_unfinished(installation, ctx.session.client_capabilities):
                result = codes.drop_output_schemas(result)
            return codes.add_tools(result, installation)

        if installation.keeping is None:
            return await listing(ctx)
        return await apps.add_to_list(installation, ctx, listing)

    async def _serve_with_store(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        installation = self._installation
        caller.set(partial(installation.caller, ctx))
        if (ours := await apps.serve(installation, ctx, call_next)) is not None:
            return ours
        return await self._route(ctx, call_next)

    def _route(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> CoroutineType[Any, Any, HandlerResult]:
        """A call begins, or a state or a code continues one."""
        installation, params = self._installation, ctx.params or {}
        state, brought = params.get("requestState"), params.get("inputResponses")
        responses = cast("Mapping[str, Any]", brought) if isinstance(brought, Mapping) else _NONE
        if isinstance(state, OwnState):
            return self._driver.serve(ctx, call_next, state, Given(responses))
        may_bring_code = state is None and (
            installation.keeping is not None or params.get("name") in (CONTINUE, ANSWER)
        )
        if may_bring_code and (code := codes.code_in(ctx)) is not None:
            return resume(installation, self._driver, ctx, call_next, code)
        return self._driver.begin(ctx, call_next, Foreign(state, responses))


def _on_asyncio() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
