"""Whether people get into the desk, and nobody else does. Signs nobody in."""

from collections.abc import Iterator

from recon.doctor.patients import Check, Patient, Pen
from recon.doors import machine, openid
from recon.model.errors import ReconError
from recon.model.phrases import several
from recon.model.records.remarks import Remark, Section
from recon.model.records.words import Role
from recon.model.settings import Settings, SignInSettings
from recon.rules import entrances, permissions

_DASHBOARD = Pen(Section.DASHBOARD)
_SECONDS = 10.0  # For the provider's description: people wait for it when they sign in.
_WAYS = {
    "local": "Nobody signs in: whoever uses this machine acts as {operator!r}.",
    "oidc": "People sign in at the OpenID provider, and stay signed in for {hours:g} hours.",
    "proxy": "People come in as the proxy says in {user}, and an open tab counts for {hours:g} hours.",
}


def _way(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    dashboard, sign_in = patient.settings.dashboard, patient.settings.sign_in
    told = {"operator": dashboard.operator, "user": sign_in.user_header}
    hours = sign_in.session.total_seconds() / 3600
    yield _DASHBOARD.ok(_WAYS[dashboard.mode].format(hours=hours, **told))
    for lack in entrances.lacks(dashboard, sign_in):
        yield _DASHBOARD.failure(lack.found, lack.todo)


def _roles(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None or patient.settings.dashboard.mode == "local":
        return
    sign_in = patient.settings.sign_in
    if sign_in.groups or sign_in.people:
        people = several(len(sign_in.people), "person", "people")
        yield _DASHBOARD.ok(f"{several(len(sign_in.groups), 'group')} and {people} have a role.")
    roles = [role for _, role in (*sign_in.groups, *sign_in.people)]
    if patient.settings.four_eyes and not any(permissions.reaches(each, Role.APPROVER) for each in roles):
        yield _DASHBOARD.warning(
            "Nobody who signs in may approve, and four_eyes.amounts asks for a second person.",
            "Give a group the role approver under sign_in.groups.",
        )


def _provider(patient: Patient) -> Iterator[Remark]:
    settings = patient.settings
    if settings is None or settings.dashboard.mode != "oidc":
        return
    yield _DASHBOARD.ok(
        f"The provider must know {entrances.callback(settings.dashboard)} as redirect address."
    )
    if machine.lacking(("authlib",)):
        yield _DASHBOARD.failure(
            "Authlib is not installed, and Streamlit signs nobody in without it.",
            "pip install 'refund-recon[dashboard]'",
        )
    if not settings.sign_in.metadata_url:
        return  # It is lacking, and was said.
    if patient.offline:
        yield _DASHBOARD.ok("The provider was not asked.")
        return
    yield from _described(settings)


def _described(settings: Settings) -> Iterator[Remark]:
    sign_in = settings.sign_in
    try:
        found = openid.described(sign_in.metadata_url, timeout_seconds=_SECONDS)
    except ReconError as error:
        yield _DASHBOARD.failure(
            str(error), "Look at sign_in.metadata_url and the way there: nobody signs in."
        )
        return
    expected = found.issuer.rstrip("/") + entrances.METADATA
    if sign_in.metadata_url != expected:
        yield _DASHBOARD.warning(
            f"The provider calls itself {found.issuer}, whose description would be at {expected}.",
            "Make sign_in.metadata_url that address: a token of another issuer is refused.",
        )
    else:
        yield _DASHBOARD.ok(f"The provider {found.issuer} describes itself.")
    yield from _scopes(sign_in, found)


def _scopes(sign_in: SignInSettings, found: openid.Description) -> Iterator[Remark]:
    asked = sign_in.scopes.split()
    for lacking in [each for each in ("openid", "email") if each not in asked]:
        yield _DASHBOARD.failure(
            f"sign_in.scopes does not ask for {lacking}, without which no verified address comes.",
            'Make it "openid email profile", and what your provider wants for groups.',
        )
    strange = [each for each in asked if found.scopes and each not in found.scopes]
    if strange:
        yield _DASHBOARD.warning(
            f"The provider does not name the scope {', '.join(strange)} among those that it knows.",
            "Some providers refuse a sign-in that asks for it: look at sign_in.scopes.",
        )


CHECKS = (
    Check("how people come in", _way),
    Check("who has which role", _roles),
    Check("whether the provider answers", _provider),
)
