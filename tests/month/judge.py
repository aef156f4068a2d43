"""Whether the books are right, hour by hour: what waits is what is so, and whoever had to hear has heard.

After every run that read an account completely, each of its cases is set beside the truth. Everything that is
wrong is a sentence; the first of them ends a month.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from recon.doors.store.rows import case_record
from recon.hourly import RunReport
from recon.model import tables
from recon.model.records.cases import Case
from recon.model.records.results import Policy
from recon.model.records.words import Action, CaseState, Verdict
from tests.month.company import Company, Row
from tests.month.truth import Facts, Pair, Standing, Truth, facts

OVERLAP = timedelta(minutes=10)  # What the settings say, whatever a sabotage makes of them.
NEXT_RUN_AGREES = {"missing", "stuck", "status_mismatch", "overdue"}
WAITING = {CaseState.OPEN, CaseState.ACKNOWLEDGED}


@dataclass(slots=True)
class Spell:
    """For how long a subject has been wrong without being well in between.

    began: as a moment of Slack's. runs: complete runs that saw all of it since.
    """

    began: datetime
    runs: int = 0


@dataclass(slots=True)
class Judge:
    """Sees every run from outside, and remembers what it should have led to."""

    company: Company
    truth: Truth
    policy: Policy
    wrong: list[str] = field(default_factory=list)
    spells: dict[Pair, Spell] = field(default_factory=dict)
    ever: set[Pair] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    _cases: dict[str, Case] = field(default_factory=dict)
    _rows: Mapping[Pair, Row] = field(default_factory=dict)
    _last_run: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def before(self, *, hides: float = 0.0) -> None:
        """Look at the intents as they are committed, before a run."""
        self._rows = self.company.rows()
        self.hide(hides)

    def hide(self, within: float) -> None:
        """Note that what is as young as this at the provider is not shown to the run that comes."""
        moment = self.company.now.timestamp()
        for episode in self.company.episodes.values():
            if within and moment - within <= episode.moved_at:
                episode.hide(1)

    def after(self, report: RunReport) -> None:
        """Set what a run left beside what was so when it began."""
        run = report.run
        complete = {str(each.account) for each in run.accounts if each.complete}
        self.counts["runs"] += 1
        self.counts["complete runs"] += report.complete
        standings = self.truth.at(run.as_of, self.policy, self._rows)
        now = self._remember(run.as_of)
        cases = self.cases()
        by_episode: dict[str, list[Case]] = defaultdict(list)
        for case in cases.values():
            found = self.company.of_subject(case.account, case.subject)
            if found is None:
                self._say(f"{case.subject} is nothing of this company's")
            else:
                by_episode[found.name].append(case)
        for name, standing in standings.items():
            episode = self.company.episodes[name]
            seen = now[name] if episode.blind else standing
            self._note(seen, whole=episode.account in complete, blind=episode.blind > 0)
            if episode.account not in complete:
                continue
            if episode.blind:
                episode.blind -= 1
                self._excuse(report, name)
                continue
            known = {_pair(case): case for case in by_episode[name]}
            for pair in sorted({*standing.mismatches, *known}):
                self._compare(pair, standing, known.get(pair), run.as_of, run.fence)
        self._clears_only(report, complete)
        self._last_run = self.company.now

    def _excuse(self, report: RunReport, name: str) -> None:
        """Let people hear what a run made of an episode that it could not see all of."""
        for change in report.changes:
            found = self.company.of_subject(change.case.account, change.case.subject)
            if found is not None and found.name == name:
                self.ever.add(_pair(change.case))

    @contextmanager
    def meanwhile(self) -> Iterator[None]:
        """Note what happens in here, in the middle of a run: it may see it, or not."""
        before = self._marks()
        self._remember(self.company.now)
        yield
        for name, mark in self._marks().items():
            if before.get(name) != mark:
                self.company.episodes[name].hide(1)

    def _remember(self, as_of: datetime) -> dict[str, Standing]:
        """Return how everything stands with the rows of this moment, having noted what is wrong."""
        now = self.truth.at(as_of, self.policy, self.company.rows())
        self.ever |= {pair for standing in now.values() for pair in standing.mismatches}
        return now

    def _marks(self) -> dict[str, object]:
        """Return how each episode's rows are."""
        rows = self.company.rows()
        return {
            each.name: (
                [(refund.id, refund.status) for refund in each.refunds],
                [rows.get((each.account, key)) for key in sorted(each.keys)],
            )
            for each in self.company.episodes.values()
        }

    def cases(self) -> dict[str, Case]:
        """Return every case as it stands."""
        columns = tables.cases.c
        with self.company.database.read() as connection:
            light = connection.execute(select(columns.id, columns.version)).all()
            fresh = [row.id for row in light if self._version(row.id) != row.version]
            query = select(tables.cases).where(columns.id.in_(fresh))
            for row in connection.execute(query).mappings() if fresh else ():
                self._cases[row["id"]] = case_record(row)
        return self._cases

    def _version(self, case_id: str) -> int:
        return self._cases[case_id].version if case_id in self._cases else 0

    def _note(self, standing: Standing, *, whole: bool, blind: bool) -> None:
        """Remember since when what is wrong; what happened during the run before it may have seen already."""
        for pair in standing.mismatches:
            self.ever.add(pair)
            spell = self.spells.setdefault(pair, Spell(self._last_run if blind else self.company.now))
            spell.runs += whole and not blind

    def _compare(
        self, pair: Pair, standing: Standing, case: Case | None, as_of: datetime, fence: int
    ) -> None:
        found = standing.mismatches.get(pair)
        if found is None:
            if pair in standing.unsettled:
                return
            self.spells.pop(pair, None)
            if case is not None and case.state is not CaseState.CLEARED:
                self._say(f"{pair} agrees, and its case is {case.state} as {case.mismatch.kind}", as_of)
        elif case is None or case.state is CaseState.CLEARED:
            state = "none" if case is None else "cleared"
            self._say(f"{pair} is {found['kind']}, and its case is {state}", as_of)
        else:
            self._compare_seen(pair, found, case, as_of, fence)

    def _compare_seen(self, pair: Pair, found: Facts, case: Case, as_of: datetime, fence: int) -> None:
        said = facts(case)
        if case.state in WAITING:
            if said != found:
                other = {name: (found[name], said[name]) for name in found if found[name] != said[name]}
                self._say(f"{pair} is told wrongly, so and so said: {other}", as_of)
        elif case.state is CaseState.RESOLVED and {found["kind"], said["kind"]} <= NEXT_RUN_AGREES:
            assert case.decided_fence is not None
            assert case.decided_at is not None
            if fence > case.decided_fence and as_of > case.decided_at + OVERLAP:
                self._say(f"{pair} was resolved at {case.decided_at}, is {found['kind']} and stays so", as_of)
        elif said != found:
            self._say(f"{pair} was decided on as {said}, and is {found}", as_of)
        elif case.accepted_until is not None and case.accepted_until <= as_of:
            self._say(f"{pair} was accepted until {case.accepted_until}, and stays so", as_of)

    def _clears_only(self, report: RunReport, complete: Iterable[str]) -> None:
        """An account that was not read completely clears nothing."""
        for change in report.changes:
            self.counts[str(change.entry.action)] += 1
            if change.entry.action is Action.CLEARED and change.case.account not in complete:
                self._say(
                    f"{change.case.subject} was cleared, and its account was not read", report.run.as_of
                )
        if not report.complete and report.run.verdict is not Verdict.INCOMPLETE:
            self._say(f"a run that read {sorted(complete)} of its accounts says {report.run.verdict}")

    def owed(self, told: Mapping[str, datetime]) -> None:
        """What has been wrong for two complete runs, each told of since, has been told.

        told: by case id, the latest time that a message named it. Everything waiting has been delivered.
        """
        cases = {_pair(case): case for case in self.cases().values()}
        for pair, spell in self.spells.items():
            if spell.runs < 2:
                continue
            case = cases.get(pair)
            heard = told.get(case.id) if case is not None else None
            if heard is None or heard < spell.began:
                self._say(f"{pair} is wrong since {spell.began}, and was told {heard or 'never'}")

    def whole(self, as_of: datetime) -> None:
        """At the end: one full diff of everything says what all episodes say."""
        rows = self.company.rows()
        everything = self.truth.whole(as_of, self.policy, rows)
        parts = self.truth.at(as_of, self.policy, rows).values()
        together = {pair: found for each in parts for pair, found in each.mismatches.items()}
        if everything.mismatches != together:
            self._say(f"episodes are not apart: {everything.mismatches.keys() ^ together.keys()}")
        self.counts["mismatches at the end"] = len(together)

    def say(self, sentence: str) -> None:
        """Note that something is wrong."""
        self._say(sentence)

    def _say(self, sentence: str, as_of: datetime | None = None) -> None:
        self.wrong.append(f"{self.company.now:%d. %H:%M:%S} (as of {as_of}): {sentence}")


def _pair(case: Case) -> Pair:
    return str(case.account), str(case.subject)
