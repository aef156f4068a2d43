"""Whether what people click in Slack arrives: the app's token, the listener, and who may answer.

Opens no socket.
"""

import re
from collections.abc import Iterable, Iterator

from recon.doctor import reach
from recon.doctor.patients import Check, Patient
from recon.doctor.reach import SLACK
from recon.doors.slack.workspace import Workspace
from recon.doors.store import leases, operators, revisions
from recon.model.phrases import several
from recon.model.records.clicks import LISTENER
from recon.model.records.people import Operator
from recon.model.records.remarks import Remark

_MAKE = "Under Basic Information of the Slack app make an app-level token (xapp-)"
_APP_TOKEN = "xapp-"  # noqa: S105 - how such a token begins
_SIGNING_SECRET = re.compile(r"[0-9a-f]{32}")  # As Slack shows it under Basic Information.
_PEOPLE = 50  # Operators that Slack is asked of: it answers so many such questions a minute.


def clicks(patient: Patient) -> Iterator[Remark]:
    """Yield whether a click below a message would arrive, and what is missing."""
    if patient.settings is None or not patient.settings.slack.enabled:
        return
    slack = patient.settings.slack
    if not slack.answers:
        yield SLACK.ok("Neither SLACK_APP_TOKEN nor SLACK_SIGNING_SECRET is set: messages carry links only.")
        return
    if slack.app_token:
        yield from _app_token(patient, slack.app_token.reveal())
    if slack.signing_secret:
        yield _signing_secret(slack.signing_secret.reveal())
    yield from _listener(patient)


def _app_token(patient: Patient, token: str) -> Iterator[Remark]:
    if not token.startswith(_APP_TOKEN):
        yield SLACK.failure(
            "SLACK_APP_TOKEN does not begin with xapp-: no click arrives.",
            f"{_MAKE} with the scope connections:write.",
        )
        return
    workspace = reach.opened(patient)
    if workspace is None:
        return
    why = workspace.socket()
    if why is None:
        yield SLACK.ok("The app's token opens a socket for clicks (none was opened now).")
    else:
        yield SLACK.failure(f"The app's token opens no socket for clicks: {why.reason}.", _remedy(why.reason))


def _remedy(reason: str) -> str:
    for word, todo in (
        ("missing_scope", f"{_MAKE} with the scope connections:write."),
        (
            "not_allowed_token_type",
            f"{_MAKE}.",
        ),
        ("invalid_auth", "The token is revoked or mistyped: copy the app-level token (xapp-) once more."),
        ("forbidden", "Switch Socket Mode on in the settings of the Slack app."),
    ):
        if word in reason:
            return todo
    return "Look whether Socket Mode is on in the settings of the Slack app, or try again."


def _signing_secret(secret: str) -> Remark:
    if _SIGNING_SECRET.fullmatch(secret):
        return SLACK.ok("A signing secret is set: clicks may come over HTTP.")
    return SLACK.warning(
        "SLACK_SIGNING_SECRET is not 32 hexadecimal digits, as Slack shows it: clicks over HTTP are refused.",
        "Copy it from Basic Information of the Slack app; over Socket Mode it is not needed.",
    )


def _listener(patient: Patient) -> Iterator[Remark]:
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        yield SLACK.warning("Nobody knows whether the listener runs.", "The database comes first; see there.")
        return
    lease = leases.held(patient.database, LISTENER, now=patient.clock())
    if lease is not None:
        yield SLACK.ok(f"The listener is there ({lease.holder}).")
    else:
        yield SLACK.failure(
            "Nobody listens: what people click in Slack is not answered.",
            "Start python -m jobs.listener (config/deploy); for links only, unset SLACK_APP_TOKEN and "
            "SLACK_SIGNING_SECRET.",
        )


def people(patient: Patient) -> Iterator[Remark]:
    """Yield which operators may answer in Slack, and which ids Slack does not know."""
    if patient.settings is None or not patient.settings.slack.enabled or not patient.settings.slack.answers:
        return
    if patient.database is None or revisions.current(patient.database) != revisions.head():
        return  # It is said of the listener.
    active = [each for each in operators.every(patient.database) if each.active]
    silent = [each for each in active if each.slack_id is None]
    able = [each for each in active if each.slack_id is not None]
    if not able:
        yield SLACK.warning(
            "No operator has a Slack id: whoever clicks is refused.",
            "recon operators add NAME --slack U..., the member id from the person's profile in Slack.",
        )
    elif silent:
        yield SLACK.warning(
            f"Without a Slack id: {_names(silent)}. They cannot answer in Slack.",
            "recon operators add NAME --slack U...; the dashboard works without.",
        )
    workspace = reach.opened(patient)
    strangers = [] if workspace is None else list(_strangers(workspace, able))
    yield from strangers
    if able and not strangers:
        yield SLACK.ok(f"{several(len(able), 'operator')} may answer in Slack: {_names(able)}.")


def _strangers(workspace: Workspace, able: Iterable[Operator]) -> Iterator[Remark]:
    for each in list(able)[:_PEOPLE]:
        why = workspace.person(each.slack_id or "")
        if why is not None and "missing_scope" not in why.reason:
            yield SLACK.warning(
                f"{each.name}, an operator, is {each.slack_id} in Slack, which is of no use: {why.reason}.",
                reach.remedy(why),
            )


def _names(these: Iterable[Operator]) -> str:
    return ", ".join(each.name for each in these)


CHECKS = (
    Check("whether what people click arrives", clicks),
    Check("who may answer in Slack", people),
)
