"""Any side effect of a function, done once for each decision; the other half of recon/guard.py's seam.

Never raises into the framework that calls it. Loads no frames: it lives in other people's processes.
"""

import inspect
import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Self

from sqlalchemy import Engine

from recon import callers, handling
from recon.callers import GiveUp
from recon.doors import config, intents
from recon.doors.clock import Clock, utc_now
from recon.doors.store import calls
from recon.doors.store.engines import Database
from recon.guarding import Gate
from recon.handling import Finder, Functions, Sender
from recon.model import characters, registry, stored
from recon.model.errors import ConfigurationError, ReconError
from recon.model.records.guarded import Guarded, Outcome, OutcomeStatus, Settled, Unfit, Wanted
from recon.model.records.tools import Effect, Registry, Tool
from recon.model.records.words import AccountId, IntentKey, IntentStatus
from recon.model.settings import GuardSettings, Settings
from recon.rules import keys, outcomes
from recon.rules import registry as declaring

log = logging.getLogger("recon.guard")  # In the host's own process: its handlers, its format.

_NOBODY = "by must say who found it out, as a text; found none"
_NO_ID = "result_id must be the id of what was made, as a text that can be kept; found none"

Fields = Mapping[str, str | int | None]


class Guard:
    """Any side effect of a function, once for each decision.

    Where no function finds what was done, an unknown effect stays unknown until a person settles it; where
    one does, but the world takes the same key twice, it is settled once it is found, or by a person.
    """

    def __init__(
        self,
        tool: str,
        send: Sender,
        find: Finder | None = None,
        *,
        engine: Database | Engine,
        clock: Clock = utc_now,
        settings: GuardSettings | None = None,
        declared: Tool | None = None,
        keyed: bool = False,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """send: takes key and body, and returns an id, if any; ProviderRefused says that nothing was done.

        It is called in a thread of the guard's, and needs a limit of its own below guard.lease_seconds. find:
        takes the same, and returns the id of what the key made, or None where all was looked through.
        declared: what tools.toml says of the tool; None lets any fields make a key, and the whole body is
        what the same key must come with. keyed: for a tool without such, whether the world does one key once;
        only then is what was not found sent again.

        Raises:
            ConfigurationError: one of them is a coroutine function, which a call of it would not run; or the
                name is none that a key can begin with.
        """
        if any(map(inspect.iscoroutinefunction, (send, find))):
            raise ConfigurationError(f"Expected plain functions for {tool}, found a coroutine function.")
        if not registry.NAME.fullmatch(tool):
            raise ConfigurationError(f"Expected a tool's name in lower case, found {tool!r:.80}.")
        self._tool = tool
        self._declared = declared
        self._proves = find is not None and (keyed if declared is None else declared.keyed)
        self._clock = clock
        self._settings = settings or GuardSettings()
        self._database = callers.opened(engine)
        self._gate = Gate(
            self._database,
            {tool: Functions(send, find, keyed=self._proves)},
            settings=self._settings,
            clock=clock,
            sleep=sleep,
        )
        self._threads = callers.Threads(f"recon-{tool}")

    @classmethod
    def from_settings(
        cls, tool: str, send: Sender, find: Finder | None = None, *, settings: Settings | None = None
    ) -> Self:
        """Return the guard of a tool as configuration and environment say: tools.toml declares it.

        Raises:
            ConfigurationError: they do not say what they should; or tools.toml declares no such tool, another
                effect, the fingerprint of a refund, or a finder where there is none, or the other way round;
                the database answers and was not upgraded; or as making one raises it.
        """
        told = config.load() if settings is None else settings
        declared = registry.parse(told.tools)
        wrong = _refusal(declared, tool, finds=find is not None)
        if wrong is not None:
            raise ConfigurationError(wrong)
        database = callers.ready(told.database_url.reveal(), wait_seconds=told.guard.deadline_seconds)
        return cls(tool, send, find, engine=database, settings=told.guard, declared=declared[tool])

    def call(
        self,
        fields: Fields,
        body: Mapping[str, object],
        *,
        noun: str,
        account: str = "",
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Outcome:
        """Do it once for these fields, and return what the caller may believe.

        fields: what makes the decision, as texts or whole numbers; None is absent. body: what is sent, as
        JSON has it. The same fields with another body are refused; of a declared tool, with other values of
        its fingerprint, and the first call's body is what is sent. noun: for messages. It is answered by its
        deadline, also where the function that sends is not: what that returns later is written down then.
        """
        about = {"call_id": call_id, "caller": caller}
        work = partial(self._call, fields=fields, body=body, noun=noun, account=account, about=about)
        return callers.waited(self._threads, work, noun=noun, within=self._limit(fields, noun, account))

    async def acall(
        self,
        fields: Fields,
        body: Mapping[str, object],
        *,
        noun: str,
        account: str = "",
        call_id: str | None = None,
        caller: str | None = None,
    ) -> Outcome:
        """Do the same without holding up the event loop; what cancels it is heard at once, as of a refund."""
        about = {"call_id": call_id, "caller": caller}
        work = partial(self._call, fields=fields, body=body, noun=noun, account=account, about=about)
        limit = self._limit(fields, noun, account)
        return await callers.awaited(self._threads, work, noun=noun, within=limit)

    def check(self, fields: Fields, *, noun: str, account: str = "") -> Outcome:
        """Return how the side effect of these fields stands; sends nothing.

        What is unknown is looked up, where there is a function for it. Rejected is what was never done.
        """
        key = None
        try:
            named = self._named(fields, account)
            if isinstance(named, Unfit):
                return outcomes.refused(named)
            key = named[1]
            until = self._gate.deadline()
            with self._gate.reading(until) as connection:
                row = intents.read(connection, *named)
            return self._standing(row, noun, until)
        except ReconError as error:  # The database is away.
            log.warning("The status of %s cannot be read: %s", key, error)
        except Exception:
            log.exception("A bug while a status was read.")
        return outcomes.unknown(noun, key)

    async def acheck(self, fields: Fields, *, noun: str, account: str = "") -> Outcome:
        """Do the same without holding up the event loop."""
        work = partial(self.check, fields, noun=noun, account=account)
        return await callers.awaited(self._threads, lambda *_: work(), noun=noun, sends=False)

    def conclude(
        self,
        fields: Fields,
        *,
        done: bool,
        by: str,
        noun: str,
        result_id: str | None = None,
        account: str = "",
    ) -> Outcome:
        """Write down what a person found out about what nobody knew of, and return how it stands.

        by: who found it out, which is kept with the time among the calls; never a model. result_id: of what
        was made, as a text. Nothing is written where nothing was sent, it is settled, or a call is at it.

        Raises:
            ReconError: the fields are not those that tools.toml declares, or the database is away.
        """
        named = self._named(fields, account)
        if isinstance(named, Unfit):
            return outcomes.refused(named)
        row = conclude(
            self._database, self._tool, *named, done=done, by=by, result_id=result_id, clock=self._clock
        )
        if isinstance(row, Unfit):
            return outcomes.refused(row)
        return self._standing(row, noun, self._gate.deadline())

    def settle(self) -> Settled:
        """Look up what is unsettled, send nothing, and return what became of it.

        Raises:
            ReconError: the database is away.
        """
        return self._gate.sweep()

    def close(self) -> None:
        """Wait for calls under way, and give back every connection."""
        self._threads.shutdown()
        self._database.close()

    def _call(
        self,
        give_up: GiveUp,
        began: float | None,
        fields: Fields,
        body: Mapping[str, object],
        *,
        noun: str,
        account: str,
        about: Mapping[str, object],
    ) -> Outcome:
        """Return the outcome of one call, whatever happens."""
        key = None
        try:
            wanted = self._wanted(fields, body, noun, account)
            if isinstance(wanted, Unfit):
                return outcomes.refused(wanted)
            key, words = wanted.key, callers.asked({**fields, **about})
            outcome = self._gate.call(wanted, words, give_up=give_up, began=began)
            return self._told(outcome, noun)
        except ConfigurationError as error:  # What the host's code does is not what the file declares.
            log.error("Nothing is sent: %s", error)  # noqa: TRY400 -- the sentence says it all
            return outcomes.not_by_this(noun, None, str(error))
        except Exception:
            # A bug of ours must not become an exception that the framework answers by calling again.
            log.exception("A bug in a guarded call.")
            return outcomes.unknown(noun, key)

    def _wanted(self, fields: Fields, body: Mapping[str, object], noun: str, account: str) -> Wanted | Unfit:
        named, prints = self._named(fields, account), self._prints(body)
        if isinstance(named, Unfit):
            return named
        return prints if isinstance(prints, Unfit) else Wanted(self._tool, noun, *named, prints, body)

    def _limit(self, fields: Fields, noun: str, account: str) -> callers.Limit:
        """Return how long somebody waits for a call, and what is told of it after that."""

        def late() -> Outcome:
            named = self._named(fields, account)
            key = None if isinstance(named, Unfit) else named[1]
            return outcomes.unknown(noun, key, person=not self._proves)

        return callers.Limit(self._settings.deadline_seconds, late)

    def _named(self, fields: Fields, account: str) -> tuple[AccountId, IntentKey] | Unfit:
        """Return whose decision it is and its key, or why these fields make none.

        Raises:
            ConfigurationError: tools.toml declares other fields.
        """
        told: object = fields  # Of a host without types.
        if not isinstance(told, Mapping) or not all(isinstance(name, str) for name in told):
            said = "the fields must have texts for names, and what makes the decision for values"
            return Unfit(said, for_person=True)
        found = keys.decision(fields, account)
        if isinstance(found, Unfit):
            return found
        if self._declared is None:
            return found[0], keys.make(self._tool, *found)
        wrong = declaring.refusal({self._tool: self._declared}, self._tool, Effect.SIDE_EFFECT, found[1])
        if wrong is not None:
            raise ConfigurationError(wrong)
        return found[0], keys.make(self._declared.operation, *found)

    def _prints(self, body: Mapping[str, object]) -> dict[str, str] | Unfit:
        """Return what the same key must always come with, or why this body cannot be sent.

        Raises:
            ConfigurationError: it lacks what tools.toml declares.
        """
        told: object = body  # As above.
        if not isinstance(told, Mapping):
            return Unfit(
                f"the body must be what is sent, by name; found {type(told).__name__}", for_person=True
            )
        try:
            whole = {name: stored.canonical(value) for name, value in body.items()}
        except (TypeError, ValueError) as error:  # A date, a Decimal, a number that is none.
            return Unfit(f"the body must be as JSON has it; found that {error}", for_person=True)
        if self._declared is None:
            return whole
        lacking = [name for name in self._declared.fingerprint if name not in whole]
        if lacking:
            raise ConfigurationError(
                f"Expected {', '.join(lacking)} in the body of {self._tool}, because its fingerprint in "
                f"tools.toml names it, found {', '.join(whole) or 'nothing'}: put the file or the code right."
            )
        return {name: whole[name] for name in self._declared.fingerprint}

    def _standing(self, row: Guarded | None, noun: str, until: float) -> Outcome:
        if row is None:
            return outcomes.never_asked(noun)
        own = replace(row, tool=self._tool)  # Another tool of the same operation may have begun it.
        return self._told(callers.standing(self._gate, own, noun, self._clock(), until=until), noun)

    def _told(self, outcome: Outcome, noun: str) -> Outcome:
        """Return the outcome; what nothing proves undone, and so is never sent again, is for a person."""
        if self._proves or outcome.status is not OutcomeStatus.PENDING_UNKNOWN:
            return outcome
        return outcomes.unknown(noun, outcome.intent_key, person=True)


def conclude(
    database: Database,
    tool: str,
    account: AccountId,
    key: IntentKey,
    *,
    done: bool,
    by: str,
    result_id: str | None = None,
    clock: Clock = utc_now,
) -> Guarded | Unfit | None:
    """Write down what a person found out of one key, as Guard.conclude, and return how it is then.

    It is as it was where nothing was sent, it is settled, or a call is at it; None where nobody asked for it.

    Raises:
        ReconError: the database is away. Nothing was written.
    """
    told: object = by  # Of a host without types.
    if not isinstance(told, str) or characters.is_blank(told):
        return Unfit(_NOBODY)
    if result_id is not None and handling.named(result_id) != result_id:
        return Unfit(_NO_ID)
    who = characters.keepable(by)
    with database.write() as connection:
        row = intents.read(connection, account, key)
        if row is None or row.first_sent_at is None:
            return row
        now = clock()  # Not before: the transaction may have waited, and leases are read by this.
        held = intents.take(connection, row, who, now=now, until=now)
        if held is None or held.first_sent_at is None:
            return row
        refusal = None if done else f"{who} found that it was not done"
        status = IntentStatus.DONE if done else IntentStatus.FAILED
        row = replace(held, tool=tool, status=status, result_id=result_id, refusal=refusal, updated_at=now)
        intents.write(connection, row, release=now)
        calls.note_conclusion(connection, row, who, now)
        return row


def _refusal(declared: Registry, tool: str, *, finds: bool) -> str | None:
    """Return why no guard of a tool is made; None where tools.toml declares it as it is given."""
    own = declared[tool].key if tool in declared else ()
    wrong = declaring.refusal(declared, tool, Effect.SIDE_EFFECT, own)
    if wrong is not None:
        return wrong
    if declared[tool].finder is not finds:
        says, found = ("no", "one") if finds else ("a", "none")
        return (
            f"Expected {says} function that finds what {tool} did, as its finder in tools.toml declares, "
            f"found {found}: put the file or the code right."
        )
    if "payment" in declared[tool].fingerprint:  # See settle in recon/guard.py.
        return (
            f"Expected another word than payment in the fingerprint of {tool}: whatever names it there is "
            "taken for a refund tool, and looked up at the provider of refunds each minute."
        )
    return None
