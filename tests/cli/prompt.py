"""A process that has loaded the command, and forks once for each time it is called.

Most of what a command costs is the loading of its libraries: tests that start hundreds load them once. What a
person starts is in test_fresh.py, test_demo.py and others, whole. Run as a module; conftest.py is the other
end.
"""

import json
import os
import signal
import sys
import time
from typing import Any

import recon.cli.app
import recon.doctor.examination
import recon.hourly
import recon.overview  # noqa: F401  # what the commands load when they are called
from recon.cli.main import main as command


def main() -> None:
    """Take orders until there are no more: a line of JSON each, answered by the exit code."""
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _live(json.loads(line))
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _live(order: dict[str, Any]) -> None:
    """Be the command, in its own environment, and end as it does."""
    signal.alarm(order["seconds"])
    os.environ.clear()
    os.environ.update(order["environ"])
    time.tzset()
    os.chdir(order["cwd"])
    for number, name in enumerate((os.devnull, order["stdout"], order["stderr"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.argv = ["recon", *order["options"]]
    code: object = 0
    try:
        command()
    except SystemExit as ended:
        code = ended.code
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))


if __name__ == "__main__":
    main()
