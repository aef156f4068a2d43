"""What this process was told: files, variables, values; and what is installed. Never shows a secret."""

import platform
from collections.abc import Iterator
from datetime import timedelta
from difflib import get_close_matches
from urllib.parse import urlsplit

from recon.doctor.patients import Check, Patient, Pen
from recon.doors import config, machine
from recon.model import registry
from recon.model.addresses import loopback
from recon.model.errors import ConfigurationError
from recon.model.records.remarks import Remark, Section
from recon.model.settings import Secret, Settings

_CONFIGURATION, _PACKAGES = Pen(Section.CONFIGURATION), Pen(Section.PACKAGES)

# The provider's lists show a refund up to about a minute late.
_SHOWN_LATE = timedelta(minutes=2)
# The modules of each extra, as pyproject.toml lists them.
_EXTRAS = {
    "job": ("alembic", "apscheduler", "pandas", "prometheus_client", "pyarrow", "rich", "typer"),
    "slack": ("slack_sdk",),
    "postgres": ("psycopg",),
    "dashboard": ("streamlit",),
    "sandbox": ("python_multipart", "starlette", "uvicorn"),
    "cluster": ("dask", "distributed"),
}


def _files(patient: Patient) -> Iterator[Remark]:
    if patient.flaw is not None:
        stand_in = " Until then the shipped settings stand in below." if patient.settings else ""
        yield _CONFIGURATION.failure(patient.flaw, f"Put that right: nothing starts before.{stand_in}")
    try:
        files = config.sources(patient.environ, patient.path)
    except ConfigurationError:  # It is the flaw.
        return
    read = ", then ".join(["the shipped defaults", *map(str, files)])
    yield _CONFIGURATION.ok(f"Files: {read}.")


def _variables(patient: Patient) -> Iterator[Remark]:
    found = config.variables(patient.environ)
    told = [f"{each.name} (in a file)" if each.file else each.name for each in found if each.told]
    yield _CONFIGURATION.ok(f"Set: {', '.join(told) or 'nothing'}.")
    missing = ", ".join(each.name for each in found if not each.told)
    if missing:
        yield _CONFIGURATION.ok(f"Not set: {missing}.")
    for each in found:
        if each.file is not None and machine.open_to_all(each.file):
            yield _CONFIGURATION.warning(
                f"Everybody on this machine may read {each.file}, which holds {each.name}.",
                f"chmod 600 {each.file}, and see that the job's user owns it.",
            )
    names = [each.name for each in found]
    for name in config.strangers(patient.environ):
        near = get_close_matches(name, names, n=1, cutoff=0.0)[0]
        yield _CONFIGURATION.warning(f"{name} is set, and nothing reads it.", f"Did you mean {near}?")


def _values(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    odd = list(oddities(patient.settings))
    yield from (_CONFIGURATION.warning(found, todo) for found, todo in odd)
    if not odd:
        yield _CONFIGURATION.ok("The values in recon.toml are within what makes sense.")


def _tools(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    try:
        declared = registry.parse(patient.settings.tools)
    except ConfigurationError as error:  # The hour goes on without it; the guard and its alert do not.
        yield _CONFIGURATION.failure(
            str(error),
            "Put that right: until then the guard sends nothing, and duplicate calls are not told.",
        )
        return
    acting = [tool.name for tool in declared.values() if tool.key]
    yield _CONFIGURATION.ok(f"Tools with side effects in tools.toml: {', '.join(acting) or 'none'}.")


def oddities(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield what is allowed and hardly meant, and what to do instead."""
    policy, pull = settings.policy, settings.pull
    late = "The provider shows refunds up to a minute late, and so invents mismatches: make it 2 or more."
    for name, value in (
        ("policy.missing_after_minutes", policy.missing_after),
        ("policy.orphan_after_minutes", policy.orphan_after),
    ):
        if value < _SHOWN_LATE:
            yield f"{name} is {_minutes(value)}.", late
    if pull.overlap < _SHOWN_LATE:
        yield (
            f"pull.overlap_minutes is {_minutes(pull.overlap)}.",
            "What the provider shows late is then found a day later, by the re-list: make it 2 or more.",
        )
    if policy.stuck_after < timedelta(minutes=15):
        yield (
            f"policy.stuck_after_minutes is {_minutes(policy.stuck_after)}.",
            "A call that is still being tried again becomes a case: make it longer than any caller goes on.",
        )
    if policy.clock_skew > timedelta(minutes=5):
        yield (
            f"policy.clock_skew_seconds is {policy.clock_skew.total_seconds():g}.",
            "So wide, a refund from before its intent is taken for its own: put the clock right instead.",
        )
    if pull.relist < timedelta(days=30):
        yield (
            f"pull.relist_days is {pull.relist.days}.",
            "A refund can fail about 30 days after it succeeded: make it 30 or more.",
        )
    if settings.four_eyes and settings.dashboard.mode == "local":
        yield (
            "four_eyes.amounts is set, and dashboard.mode is local.",
            "A name proves nothing there, and by default nobody may approve: set mode to oidc or proxy.",
        )
    yield from _odd_alarms(settings)


def _odd_alarms(settings: Settings) -> Iterator[tuple[str, str]]:
    stale = settings.stale_after
    if stale <= timedelta(hours=1):
        yield (
            f"alarms.stale_after_minutes is {_minutes(stale)}.",
            "An hourly job is then stale before its next run ends: make it 120, two missed runs.",
        )
    if stale > timedelta(days=1):
        yield (
            f"alarms.stale_after_minutes is {_minutes(stale)}.",
            "A job that has stopped is then noticed after more than a day: make it 120.",
        )
    if settings.slack.enabled and _on_this_machine(settings.dashboard.url):
        yield (
            f"dashboard.url is {settings.dashboard.url}, and Slack's messages link to it.",
            "Who reads them elsewhere gets their own machine: set it to where people reach the dashboard.",
        )


def _extras(patient: Patient) -> Iterator[Remark]:
    lacking = {extra: machine.lacking(modules) for extra, modules in _EXTRAS.items()}
    here = ", ".join(extra for extra, missing in lacking.items() if not missing)
    away = ", ".join(extra for extra, missing in lacking.items() if missing)
    version = machine.installed("refund-recon") or "of an unknown version"
    told = f"recon {version} on Python {platform.python_version()}. Extras: {here or 'none'}"
    yield _PACKAGES.ok(f"{told}; not installed: {away}." if away else f"{told}.")
    for extra, why in _needed(patient.settings):
        if lacking[extra]:
            yield _PACKAGES.failure(
                f"{', '.join(lacking[extra])} is not installed, and {why}.",
                f"pip install 'refund-recon[{extra}]'",
            )


def _needed(settings: Settings | None) -> Iterator[tuple[str, str]]:
    yield "job", "the hour needs it"
    if settings is None:
        return
    if settings.slack.enabled:
        yield "slack", "SLACK_BOT_TOKEN is set"
    urls = (settings.database_url, settings.intents.url if settings.intents else None)
    if any(url.reveal().startswith("postgres") for url in urls if isinstance(url, Secret)):
        yield "postgres", "a database is PostgreSQL"


def _minutes(span: timedelta) -> str:
    return f"{span.total_seconds() / 60:g}"


def _on_this_machine(url: str) -> bool:
    return loopback(urlsplit(url).hostname)


CHECKS = (
    Check("which files are read", _files),
    Check("which variables are set", _variables),
    Check("whether the values make sense", _values),
    Check("whether the tools are declared as they should be", _tools),
)
PACKAGES = (Check("what is installed", _extras),)
