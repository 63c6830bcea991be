"""The seal of the state that a call travels as: the SDK's own, with advice where it refuses one."""

from __future__ import annotations

from types import CoroutineType
from typing import TYPE_CHECKING, Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS
from mcp_types.methods import INPUT_REQUIRED_METHODS

from midcall.wording import journal as wording

if TYPE_CHECKING:
    from midcall.server.install import Installation

__all__ = ["Seal"]


class Seal(RequestStateBoundary):
    """Seals and unseals states. It is told on whose behalf once midcall is installed."""

    installation: Installation

    def __init__(self, security: RequestStateSecurity, *, default_audience: str | None) -> None:
        super().__init__(security, default_audience=default_audience)
        self.codec = security.codec

    def __call__(
        self, ctx: ServerRequestContext[Any, Any], call_next: CallNext
    ) -> CoroutineType[Any, Any, HandlerResult]:
        # Not `async`: most requests bring no state, and need nothing but what the SDK does.
        if ctx.method not in INPUT_REQUIRED_METHODS:
            return super().__call__(ctx, call_next)
        if ctx.request is not None:
            self.installation.over_http()
        if ctx.params is None or ctx.params.get("requestState") is None:
            return super().__call__(ctx, call_next)
        return self._with_advice(ctx, call_next)

    async def _with_advice(self, ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        """The SDK refuses a state before anything of ours sees it; say what to do then."""
        try:
            return await super().__call__(ctx, call_next)
        except MCPError as exc:
            if exc.code == INVALID_PARAMS and exc.data == {"reason": "invalid_request_state"}:
                message = wording.state_refused(self.installation.state_ttl)
                raise MCPError(code=INVALID_PARAMS, message=message, data=exc.data) from None
            raise
