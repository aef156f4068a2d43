"""The order of one exchange: read, meet a fault or not, act, answer or spoil the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from starlette.types import Receive, Scope, Send

from recon.sandbox.faults import Fault, Kind, Subject
from recon.sandbox.provider import new_id
from recon.sandbox.wire import Answer, Call, Line
from recon.sandbox.world import Room, Seen, World

_DROPPED = frozenset({Kind.DROP_BEFORE, Kind.DROP_PAGE})
_REFUSED = frozenset(
    {Kind.ERROR_BEFORE, Kind.RATE_LIMIT, Kind.LOCK, Kind.IN_USE, Kind.FORBIDDEN, Kind.FATAL_BEFORE}
)
_HTML = b"<!doctype html><title>One moment</title><h1>One moment, please</h1><p>You will be redirected.</p>\n"


class Counter(Protocol):
    """Where requests of one kind are served: the provider's counter, or Slack's."""

    def subject(self, world: World, call: Call, /) -> Subject:
        """What the request is about."""

    def seen(self, world: World, call: Call, fault: Fault | None) -> Seen:
        """The request as the log shows it."""

    def hold(self, world: World, call: Call, /) -> Callable[[], None]:
        """Count the request as running, nothing done; the result ends that."""

    def refuse(self, call: Call, fault: Fault, /) -> Answer:
        """The answer when nothing happens."""

    def perform(self, world: World, call: Call, fault: Fault | None) -> tuple[Answer, Callable[[], None]]:
        """The true answer, everything done; until the result is called the request counts as running."""


class Exchange:
    """An ASGI application in front of one counter."""

    def __init__(self, room: Room, counter: Counter) -> None:
        self._room = room
        self._counter = counter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        line = Line(scope, receive, send)
        try:
            await self._serve(line)
        except asyncio.CancelledError:
            # The sandbox is being stopped while this request hangs: its client sees the line go dead.
            line.close()
            raise

    async def _serve(self, line: Line) -> None:
        call = await line.read(new_id("req"))
        if call is None:
            await line.drop()
            return
        world = self._room.world
        fault = world.faults.take(self._counter.subject(world, call))
        seen = self._counter.seen(world, call, fault)
        world.requests.append(seen)
        if fault is None:
            await line.answer(self._act(world, call, seen))
        elif fault.kind in _DROPPED:
            await line.drop()
        elif fault.kind in _REFUSED:
            refusal = self._counter.refuse(call, fault)
            seen.answered(refusal)
            await line.answer(refusal)
        elif fault.kind is Kind.HANG_BEFORE:
            await self._hang_before(world, call, line, fault)
        elif fault.kind is Kind.LATENCY:
            await self._linger(world, call, line, seen, fault)
        else:
            await _spoil(line, self._act(world, call, seen), fault)

    def _act(self, world: World, call: Call, seen: Seen) -> Answer:
        answer, release = self._counter.perform(world, call, seen.fault)
        release()
        seen.answered(answer)
        return answer

    async def _hang_before(self, world: World, call: Call, line: Line, fault: Fault) -> None:
        release = self._counter.hold(world, call)
        try:
            await line.left_within(fault.after_s)
        finally:
            release()
        await line.drop()

    async def _linger(self, world: World, call: Call, line: Line, seen: Seen, fault: Fault) -> None:
        answer, release = self._counter.perform(world, call, fault)
        seen.answered(answer)
        try:
            await line.left_within(fault.after_s)
        finally:
            release()
        await line.answer(answer)


async def _spoil(line: Line, answer: Answer, fault: Fault) -> None:
    if fault.kind is Kind.DROP_AFTER:
        await line.drop()
    elif fault.kind is Kind.HANG_AFTER:
        if not await line.left_within(fault.after_s):
            await line.answer(answer)
    elif fault.kind is Kind.CUT_BODY_AFTER:
        await line.cut(answer)
    elif fault.kind is Kind.HTML_AFTER:
        await line.answer(Answer(200, _HTML, {"content-type": "text/html; charset=utf-8"}))
    elif fault.kind is Kind.DRIP:
        await line.drip(answer, fault.after_s)
    else:
        # These already shaped the answer itself: a kept 500, a list without its newest, Slack's fatal error.
        await line.answer(answer)
