"""The bridge adds up, in every currency, and says of each line what a slow reading says of it."""

from collections import Counter
from dataclasses import dataclass, field

from hypothesis import given, settings

from recon.model import money
from recon.model.records.reports import Report, Step, StepRole
from recon.model.records.results import Money
from recon.model.records.words import Certainty, Direction, Kind
from recon.rules.reports import bridges
from tests.reference_rows import Intent
from tests.rows import a_refund, an_intent
from tests.rules.reports.test_sums import reported
from tests.rules.test_laws import books_of
from tests.worlds import World, worlds

# Where a difference is one to the amount that was asked for, whatever the intent's status.
BY_AMOUNT = {"twice", "again", "abroad", "over", "under", "late"}
WORDS = {
    "agrees": "in agreement",
    "twice": "refunded twice",
    "again": "probably twice:",
    "abroad": "wrong currency",
    "over": "wrong amount: too much",
    "under": "wrong amount: too little",
    "late": "pending too long",
    "behind": "asked for above",
    "status_mismatch": "went back, though",
    "refund_failed": "refund came back",
    "missing": "refund missing",
    "stuck": "outcome unknown",
    "twin": "probably refunded twice:",
    "orphan": "refund nobody",
    "healable": "healable",
    "coming": "in flight: done",
    "open": "in flight: not done",
    "new": "in flight: no intent",
    "withheld": "withheld: not judged",
    "stray": "withheld: not judged, of no intent",
}
ROWS = {"twin", "orphan", "new", "stray"}


@dataclass
class Slow:
    """The bridge as one writes it by hand. Keys: currency and line."""

    amounts: Counter[tuple[str, str]] = field(default_factory=Counter)
    subjects: dict[tuple[str, str], set[tuple[str, str]]] = field(default_factory=dict)

    def add(self, line: str, currency: str, subject: tuple[str, str], amount: int) -> None:
        self.amounts[currency, line] += amount
        self.subjects.setdefault((currency, line), set()).add(subject)


def lines_of(report: Report) -> dict[tuple[str, str], str]:
    """The line of each account and subject that is not in agreement."""
    result = report.result
    found = {pair: "withheld" if pair[1].startswith("intent:") else "stray" for pair in result.withheld}
    for flight in result.in_flight:
        own = {Kind.MISSING: "coming", Kind.STUCK: "open"}
        found[flight.account, flight.subject] = own.get(flight.becomes, "new")
    for heal in result.healable:
        found[heal.account, f"intent:{heal.intent_key}"] = "healable"  # type: ignore[index]  # a Subject is a str
    for each in result.mismatches:
        of_intent, line = each.subject.startswith("intent:"), str(each.kind)
        if each.kind is Kind.DUPLICATE:
            line = "twice" if each.certainty is Certainty.CONFIRMED else "again" if of_intent else "twin"
        elif each.kind is Kind.AMOUNT_MISMATCH:
            line = "over" if each.direction is Direction.OVER else "under"
        line = {"currency_mismatch": "abroad", "overdue": "late"}.get(line, line)
        found[each.account, each.subject] = line
    return {(str(account), str(subject)): line for (account, subject), line in found.items()}


def by_hand(world: World, report: Report) -> Slow:
    books, slow, lines = books_of(world), Slow(), lines_of(report)

    def of_intent(intent: Intent) -> None:
        subject = (intent.account, f"intent:{intent.key}")
        line = lines.get(subject, "agrees")
        slow.add(line, intent.currency, subject, 0)
        for refund in books.live[intent.me]:
            slow.add(line, refund.currency, subject, refund.amount)
        if intent.status == "done":
            slow.add(line, intent.currency, subject, -intent.amount)
        elif line in BY_AMOUNT:
            slow.add(line, intent.currency, subject, -intent.amount)
            slow.add("behind", intent.currency, subject, intent.amount)

    for each in books.books.intents:
        of_intent(each)
    for refund in books.unlinked():
        subject = (refund.account, f"refund:{refund.id}")
        slow.add(lines[subject], refund.currency, subject, refund.amount)
    return slow


def whole(steps: tuple[Step, ...], role: StepRole) -> dict[str, int]:
    return {each.amount.currency: each.amount.amount_minor for each in steps if each.role is role}


@settings(max_examples=25, deadline=None)
@given(worlds().filter(lambda world: not world.paged))
def test_what_is_marked_done_and_the_differences_come_to_what_went_back(world: World) -> None:
    report = reported(world, for_people=True)
    sums = {(each.side, each.status, each.amount.currency): each.amount for each in report.totals}
    begins, ends = (whole(report.bridge, role) for role in (StepRole.BEGINS, StepRole.ENDS))

    assert set(begins) == set(ends) == {currency for _, _, currency in sums}
    for currency, steps in bridges.by_currency(report.bridge).items():
        nothing = Money(0, currency)
        assert begins[currency] == sums.get(("intents", "done", currency), nothing).amount_minor
        assert (
            ends[currency] == sums.get(("refunds", "live: went out, or will", currency), nothing).amount_minor
        )
        assert begins[currency] + sum(each.amount.amount_minor for each in steps[1:-1]) == ends[currency]
        assert bridges.adds_up(steps)


@settings(max_examples=25, deadline=None)
@given(worlds().filter(lambda world: not world.paged))
def test_each_line_is_what_a_slow_reading_says(world: World) -> None:
    report = reported(world, for_people=True)
    slow = by_hand(world, report)
    told = [each for each in report.bridge if each.role is StepRole.DIFFERS]
    keys = [
        (currency, line)
        for currency in sorted({currency for currency, _ in slow.subjects})
        for line in WORDS
        if (currency, line) in slow.subjects
    ]

    assert [(each.amount.currency, each.of, each.number, each.amount.amount_minor) for each in told] == [
        (key[0], "refund" if key[1] in ROWS else "intent", len(slow.subjects[key]), slow.amounts[key])
        for key in keys
    ]
    for each, (_, line) in zip(told, keys, strict=True):
        assert each.name.startswith(WORDS[line])
        assert line != "agrees" or each.amount.amount_minor == 0


@settings(max_examples=25, deadline=None)
@given(worlds().filter(lambda world: not world.paged))
def test_too_much_and_too_little_are_what_is_at_risk(world: World) -> None:
    report = reported(world, for_people=True)
    at_risk: Counter[tuple[str, str]] = Counter()
    lines = lines_of(report)
    for each in report.result.mismatches:
        at_risk[each.at_risk.currency, lines[each.account, each.subject]] += each.at_risk.amount_minor

    for step in report.bridge:
        for line, sign in {"over": 1, "under": -1, "twin": 1, "orphan": 1, "status_mismatch": 1}.items():
            if step.role is StepRole.DIFFERS and step.name.startswith(WORDS[line]):
                assert step.amount.amount_minor == sign * at_risk[step.amount.currency, line]


def test_amounts_beyond_what_a_column_holds_are_added_exactly() -> None:
    most = money.LARGEST_MINOR
    intents = tuple(an_intent(f"k{place}", amount_minor=most, payment=None) for place in range(3))
    refunds = tuple(a_refund(f"re_{place}", amount_minor=most) for place in range(2))
    steps = reported(World(intents=intents, refunds=refunds), for_people=True).bridge

    assert whole(steps, StepRole.BEGINS) == {"usd": 3 * most}
    assert whole(steps, StepRole.ENDS) == {"usd": 2 * most}
    assert bridges.adds_up(steps)


def test_a_bridge_that_does_not_come_to_its_end_does_not_add_up() -> None:
    begins = Step("", StepRole.BEGINS, 1, "intent", Money(4900, "usd"))
    differs = Step("", StepRole.DIFFERS, 1, "intent", Money(-4900, "usd"))
    ends = Step("", StepRole.ENDS, 1, "refund", Money(0, "usd"))

    assert bridges.adds_up([begins, differs, ends])
    assert not bridges.adds_up([begins, ends])
