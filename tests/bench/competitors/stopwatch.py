"""One piece of work, timed once in a process of its own: a line of JSON on standard output.

Only the standard library, because it is run in environments that have nothing of the product.
"""

import json
import resource
import time
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import TypeVar

KILO = 1024
Made = TypeVar("Made")


def tell(
    work: Callable[[], Made], say: Callable[[Made], Mapping[str, object]], *packages: str, **more: float
) -> None:
    """Do the work and print what it took; say, which is not timed, tells what it found.

    Prints seconds on the clock, cpu_seconds of all threads, and megabytes: the most that the process held
    so far, what it had read before the clock began included. more: figures to print beside these.
    """
    began, used = time.perf_counter(), time.process_time()
    made = work()
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - used
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KILO
    told = {
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "megabytes": megabytes,
        "found": dict(say(made)),
        "versions": {name: version(name) for name in packages},
        **more,
    }
    print(json.dumps(told))
