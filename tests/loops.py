"""Asynchronous work in a thread of its own: where a browser was driven before, this one's loop is taken."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import wraps
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


def alone(work: Coroutine[Any, Any, T]) -> T:
    """Return what comes of the work."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def in_a_thread(test: Callable[P, Coroutine[Any, Any, None]]) -> Callable[P, None]:
    """Return an asynchronous test as one that pytest calls like any other."""

    @wraps(test)
    def called(*args: P.args, **kwargs: P.kwargs) -> None:
        alone(test(*args, **kwargs))

    return called
