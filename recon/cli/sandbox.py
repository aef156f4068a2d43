"""recon sandbox: a local provider and a local Slack over HTTP, with faults on demand."""

from __future__ import annotations

import sys
from typing import Annotated

import typer


def sandbox(
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port on 127.0.0.1; 0 takes a free one.")] = 0,
) -> None:
    """Serve a local provider and a local Slack on loopback, until Ctrl-C.

    The first line of standard output is {"url": ...}; Slack is under /api/, its channels are shown at /slack.
    """
    try:
        from recon.sandbox import server
    except ImportError as missing:
        print(
            f"recon: the sandbox needs its extra, and {missing.name} is not installed: "
            "pip install 'refund-recon[sandbox]'",
            file=sys.stderr,
        )
        raise typer.Exit(2) from None
    try:
        server.serve(port)
    except OSError as taken:
        print(
            f"recon: expected a free port, found that 127.0.0.1:{port} cannot be listened on "
            f"({(taken.strerror or str(taken)).lower()}): choose another with --port, or 0 for any.",
            file=sys.stderr,
        )
        raise typer.Exit(2) from None
