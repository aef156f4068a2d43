"""The tools' kill switches as people work them: thrown, lifted, and how each stands.

An operator throws, because that is the safe way round and every minute counts; an admin lifts, because from
then on money moves again. Roles are checked at each move and against the database, and the operators' channel
is told of each through the outbox. Never sends or stops a call: the guarded tool reads the switch just before
each send, in whatever process it runs.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Self

from recon.doors import config
from recon.doors.clock import Clock, utc_now
from recon.doors.store import calls, outbox, revisions, switches
from recon.doors.store.engines import Database
from recon.model import registry
from recon.model.changes import Illegal, written
from recon.model.errors import Report, SwitchMoved
from recon.model.phrases import minute
from recon.model.records.people import Operator
from recon.model.records.tools import Activity, Effect, Registry, Switch, SwitchEntry, SwitchMove
from recon.model.records.words import Actor, Role
from recon.model.settings import Settings
from recon.moving import Mover
from recon.rules import alerts, permissions

Configuration = Callable[[], Settings]
HOUR = timedelta(hours=1)  # What the page on tools looks back on.
_TRIES = 5  # Of throwing a switch that others move at the same moment; nobody is that fast for long.


class Switchboard:
    """Every tool's switch; keeps nothing of anybody's, so that all tabs share it."""

    def __init__(self, database: Database, configuration: Configuration, clock: Clock = utc_now) -> None:
        self._database = database
        self._configuration = configuration
        self.now = clock

    @classmethod
    def open(cls, environ: Mapping[str, str] | None = None) -> Self:
        """Return the switchboard over the database that the settings name.

        Raises:
            ConfigurationError: the settings or the database cannot be used as they are; the text says what
                to run.
            DatabaseUnavailable: it cannot be reached now.
        """
        database = revisions.ready(config.load(environ).database_url.reveal())
        return cls(database, lambda: config.load(environ))

    def registry(self) -> Registry:
        """Return the tools as tools.toml declares them now.

        Raises:
            ConfigurationError: it is not as its format says; the line is named.
        """
        return registry.parse(self._configuration().tools)

    def every(self) -> Mapping[str, Switch]:
        """Return how each switch stands: of every tool that is declared, or whose switch was ever moved."""
        known = switches.every(self._database)
        names = [*self.registry(), *known]
        return {name: known.get(name, Switch(name)) for name in dict.fromkeys(names)}

    def thrown(self) -> tuple[Switch, ...]:
        """Return the switches that are thrown; one small query, for what every page shows."""
        return switches.thrown(self._database)

    def history(self, tool: str) -> tuple[SwitchEntry, ...]:
        """Return the latest moves of a tool's switch, newest first."""
        return switches.history(self._database, tool)

    def activity(self) -> Mapping[str, Activity]:
        """Return what each tool was asked within the last hour, by its name; only those that were."""
        now, declared, stands = self.now(), self.registry(), switches.every(self._database)
        back = max(HOUR, alerts.reach(declared.values()))
        told, read_from = calls.since(self._database, now - back)
        found = {}
        for name, mine in alerts.by_tool(told).items():
            tool = declared.get(name) or registry.undeclared(name)
            counted, whole_from = alerts.counted(mine, stands.get(name, Switch(name)), read_from)
            burst = alerts.burst(counted, tool, read_from=whole_from)
            lately = [each for each in mine if each.asked_at > now - HOUR]
            odd = burst if burst is not None and alerts.goes_on(burst, tool, now=now) else None
            if lately or odd is not None:
                found[name] = Activity(alerts.per_minute(lately), alerts.asked_again(lately), odd)
        return found

    def may(self, operator: Operator, made: SwitchMove) -> bool:
        """Return whether somebody may make this move now."""
        return permissions.allows(self._mover().standing(operator), _NEEDED[made])

    def throw(
        self, tool: str, *, operator: Operator, reason: str, action_id: str, vouched: bool = True
    ) -> Switch:
        """Let nothing of a tool be sent from now on; one that is thrown already stays as it is.

        It takes no version: whatever happened after somebody looked, throwing is the safe way round. vouched:
        somebody signed in by the operator's name; else the entry says that the name was only typed.

        Raises:
            NotPermitted: the operator may only read. Nothing was written.
            Report: there is no such tool, and nobody called one, or it has no side effects, or the reason is
                missing or too long. Nothing was written.
            SwitchMoved: others moved it at the same moment, again and again. Nothing was written.
        """
        kept = self._allowed(tool, operator, reason, SwitchMove.THROWN)
        for _ in range(_TRIES):
            before = switches.get(self._database, tool)
            if before.thrown:
                return before
            after = self._moved(before, SwitchMove.THROWN, _by(operator, vouched=vouched), kept, action_id)
            if after is not None:
                return after
        raise SwitchMoved(f"Expected to throw the switch of {tool}, found that others move it: try again.")

    def lift(
        self,
        tool: str,
        *,
        version: int,
        operator: Operator,
        reason: str,
        action_id: str,
        vouched: bool = True,
    ) -> Switch:
        """Let a tool send again. version: of the switch that the operator looked at. vouched: as of `throw`.

        Raises:
            NotPermitted: the operator is no admin. Nothing was written.
            Report: there is no such tool, its switch is not thrown, or the reason is missing or too long.
                Nothing was written.
            SwitchMoved: somebody moved it after this version; the text says who. Nothing was written.
        """
        kept = self._allowed(tool, operator, reason, SwitchMove.LIFTED)
        before = switches.get(self._database, tool)
        if not before.thrown and before.version in {version, 0}:
            raise Report(f"Expected the switch of {tool} to be thrown, found that it is not.")
        looked = replace(before, version=version, thrown=True)
        after = self._moved(looked, SwitchMove.LIFTED, _by(operator, vouched=vouched), kept, action_id)
        if after is None:
            stands = switches.get(self._database, tool)
            made = "threw" if stands.thrown else "lifted"
            at = f" at {minute(stands.moved_at)}" if stands.moved_at else ""
            raise SwitchMoved(
                f"{stands.moved_by} {made} the switch of {tool}{at}, after you read it. Nothing of yours was "
                "saved: read it again, then decide."
            )
        return after

    def _allowed(self, tool: str, operator: Operator, reason: str, made: SwitchMove) -> str:
        """Return the reason as it is kept, or raise why the move is not to be made."""
        self._mover().must(operator, _NEEDED[made])
        if tool not in (known := self.every()) and not calls.asked(self._database, tool):
            raise Report(f"Expected a tool of tools.toml ({', '.join(known)}), found {tool[:80]!r}.")
        declared = self.registry().get(tool)
        if made is SwitchMove.THROWN and declared is not None and declared.effect is not Effect.SIDE_EFFECT:
            raise Report(
                f"Expected a tool with side effects, found {tool}, which is declared as {declared.effect}: "
                "the guard sends nothing for it, so a switch stops nothing."
            )
        kept = written(reason)
        if isinstance(kept, Illegal):
            raise Report(kept.reason)
        return kept

    def _moved(
        self, before: Switch, made: SwitchMove, actor: Actor, reason: str, action_id: str
    ) -> Switch | None:
        """Return the switch after the move, having put down the word of it; None as `switches.move`."""
        settings, now = self._configuration(), self.now()
        with self._database.write() as connection:
            after = switches.move(
                connection, before, made, actor=actor, reason=reason, now=now, action_id=action_id
            )
            if after is not None and after.version == before.version + 1:
                word = alerts.moved(
                    after,
                    now=now,
                    dashboard_url=settings.dashboard.url.rstrip("/"),
                    channel=settings.slack.operators_channel,
                )
                outbox.add(connection, [word])
            return after

    def _mover(self) -> Mover:
        """Return what knows who may act; the settings are read anew, as rights change."""
        return Mover(self._database, self._configuration(), self.now)


def _by(operator: Operator, *, vouched: bool) -> Actor:
    """Return how an entry names whoever moved a switch."""
    return operator.name if vouched else Actor(f"{operator.name} (by the command line)")


_NEEDED: Mapping[SwitchMove, Role] = {SwitchMove.THROWN: Role.OPERATOR, SwitchMove.LIFTED: Role.ADMIN}
