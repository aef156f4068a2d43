"""`recon sandbox`: a local provider and a local Slack over HTTP, with faults on demand.

For the demo, for tests in any language, and for an operator's fire drill. It listens on loopback only and
forgets everything when it ends.
"""

from typing import Annotated

import typer

from recon.cli import extras
from recon.model.errors import ConfigurationError


def sandbox(
    port: Annotated[
        int, typer.Option(help="Listen on this port of 127.0.0.1; 0 takes a free one.", min=0, max=65535)
    ] = 0,
) -> None:
    """Serve a local provider and a local Slack on this machine, until Ctrl-C.

    The first line of standard output is {"url": ...}: the provider is there,
    Slack under /api/, and its channels to look at under /slack.
    """
    with extras.needed("The sandbox", "sandbox"):
        from recon.sandbox import server
    try:
        server.serve(port)
    except BrokenPipeError:
        raise  # Whoever started us does not read; main ends quietly.
    except OSError as taken:  # Another process listens there, or the port is the system's.
        reason = (taken.strerror or str(taken)).lower()
        raise ConfigurationError(
            f"Expected to listen on 127.0.0.1:{port}, found {reason}: choose another --port, or 0 for "
            "a free one."
        ) from taken
