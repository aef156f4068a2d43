"""The `recon` command: starts it, and turns whatever a door reports into one sentence and an exit code.

Never decides anything about refunds; each command is a module beside this one, and app.py lists them.
"""

import os
import sys
import traceback

from recon.cli import exits, extras
from recon.model.characters import harmless
from recon.model.errors import ReconError

_BROKEN_PIPE = 141  # 128 and SIGPIPE: the reader has seen enough, `recon diff ... | head`.


def main() -> None:
    """Run the command line and end the process with its exit code."""
    try:
        # It needs the base install alone: it stands before other people's commits.
        if sys.argv[1:2] == ["lint"]:
            from recon.cli import lint

            sys.exit(lint.main(sys.argv[2:]))
        with extras.needed("This command", "job"):  # The base install is the guarded tool alone.
            from recon.cli.app import app
        app(prog_name="recon")
    except ReconError as error:
        _say(str(error))
        sys.exit(exits.of(error))
    except KeyboardInterrupt:
        sys.exit(exits.INTERRUPTED)
    except BrokenPipeError:
        # Python would try to flush the closed pipe once more on its way out, and complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_BROKEN_PIPE)
    except Exception:  # noqa: BLE001 - a bug: it is shown whole, and must not end as an answer does.
        traceback.print_exc()
        sys.exit(exits.BUG)


def _say(sentence: str) -> None:
    """Print one sentence to stderr."""
    print(f"recon: {harmless(' '.join(sentence.split()))}", file=sys.stderr)


if __name__ == "__main__":
    main()
