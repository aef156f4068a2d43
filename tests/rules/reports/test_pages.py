import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from zoneinfo import ZoneInfo

import pytest

from recon.model.records.comparisons import Compared, Comparison, Earlier, NowIs, Seen, Standing
from recon.model.records.reports import Total
from recon.model.records.results import Healable, InFlight, Mismatch, Money, Policy, Reject, Result
from recon.model.records.words import AccountId, Basis, IntentKey, Kind, RefundId, Subject, Verdict
from recon.rules.reports import findings, pages, style, totals
from tests.rules.reports.results import AT, BRIDGE, COUNTS, MISMATCH, a_report, a_result

HOSTILE = "<script>alert(1)</script>\"'&\u202egnp.exe\x1b[2J\n</style>"
REFUNDS = (RefundId("re_1"), RefundId("re_2"))
VOID = {"meta", "br"}


class Page(HTMLParser):
    """The elements of a page, and what somebody reads. Asserts that each is closed where it should be."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in {"style", "title"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.words))


def page(result: Result | None = None, **fields: object) -> Page:
    return Page(pages.as_html(a_report(result, **fields)))


def test_the_page_says_verdict_money_kind_rows_and_what_to_do() -> None:
    found = replace(MISMATCH, order_id="o1", refund_ids=REFUNDS, extra_refund_ids=REFUNDS[1:])
    text = page(a_result(mismatches=(found,))).text

    places = [
        text.index(said)
        for said in (
            "1 mismatch between what was meant and what was done, with 49.00 USD at risk.",
            "As of 2026-03-06 17:00. All times are UTC.",
            "At risk per currency",
            "Refunded twice (duplicate): 1, probable",
            "Check whether a second refund was meant",
            "49.00 USD went back twice.",
            "order o1",
            "re_2 extra",
            "Nothing: every row was judged.",
            "Refunds made by hour (UTC) : 3 in all",
            "Together, as many as were compared",
            "intents.csv",
            "taken as everything there is",
            "stuck_after_minutes",
        )
    ]
    assert places == sorted(places)


def test_whatever_a_file_says_is_text_and_turns_nothing_around() -> None:
    hostile = Mismatch(
        kind=Kind.DUPLICATE,
        certainty=MISMATCH.certainty,
        account=AccountId(HOSTILE),
        subject=Subject(f"intent:{HOSTILE}"),
        at_risk=MISMATCH.at_risk,
        since=AT,
        why=HOSTILE,
        order_id=HOSTILE,
        customer_id=HOSTILE,
        payment=HOSTILE,
        refund_ids=(RefundId(HOSTILE),),
        extra_refund_ids=(RefundId(HOSTILE),),
    )
    account, subject = AccountId(HOSTILE), Subject(HOSTILE)
    seen = Seen(Kind.STUCK, Money(1, "usd"))
    report = a_report(
        a_result(
            mismatches=(hostile,),
            in_flight=(InFlight(account, subject, Kind.MISSING, AT),),
            healable=(Healable(account, IntentKey(HOSTILE), RefundId(HOSTILE), Basis.INTENT_KEY),),
            rejected=(Reject(HOSTILE, 1, HOSTILE, HOSTILE),),
            withheld=((account, subject),),
            incomplete=(HOSTILE,),
        ),
        comparison=Comparison(
            Earlier(HOSTILE, AT, Verdict.BREAKS, {}),
            (Compared(Standing.RESOLVED, account, subject, seen, None, NowIs.NO_MISMATCH),),
        ),
    )
    side = replace(report.refunds, sources=(HOSTILE,), notes=(HOSTILE,))
    html = pages.as_html(replace(report, refunds=side, policy_from=HOSTILE))
    drawn = Page(html)

    assert not {"script", "img", "link", "iframe", "object", "base", "form"} & {
        tag for tag, _ in drawn.elements
    }
    assert html.count("</style>") == 1
    assert not {"\u202e", "\x1b"} & set(html)
    assert "<script>alert(1)</script>" in drawn.text


def test_the_page_needs_nothing_but_itself() -> None:
    drawn = page()
    attributes = [attribute for _, found in drawn.elements for attribute in found.items()]

    assert (
        "content",
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    ) in (attributes)
    assert [value for name, value in attributes if name in {"src", "srcset", "data", "action"}] == []
    assert all((value or "").startswith("#") for name, value in attributes if name == "href")
    assert not [name for name, _ in attributes if name.startswith("on")]
    assert "url(" not in style.STYLE
    assert "@import" not in style.STYLE


def test_every_link_leads_somewhere_and_every_table_names_its_rows_and_columns() -> None:
    drawn = page()
    ids = [found["id"] for _, found in drawn.elements if "id" in found]
    links = [(found["href"] or "")[1:] for tag, found in drawn.elements if tag == "a"]

    assert set(links) <= set(ids)
    assert len(ids) == len(set(ids))
    assert {found.get("scope") for tag, found in drawn.elements if tag == "th"} == {"col", "row"}
    assert [tag for tag, _ in drawn.elements].count("caption") == [tag for tag, _ in drawn.elements].count(
        "table"
    )


@pytest.mark.parametrize(
    "changes, said",
    [
        (
            {"verdict": Verdict.RECONCILED, "mismatches": (), "at_risk": {}},
            "Every refund that was meant was made",
        ),
        (
            {
                "verdict": Verdict.RECONCILED_WITH_PENDING,
                "mismatches": (),
                "at_risk": {},
                "counts": replace(COUNTS, mismatches={}, in_flight=2, healable=1),
            },
            "Nothing disagrees; 2 too young to judge and 1 that a run finishes by itself.",
        ),
        (
            {"verdict": Verdict.INCOMPLETE, "incomplete": ("Not all refunds were read.",)},
            "with 49.00 USD at risk. Not everything was read or could be judged: more may be wrong",
        ),
        (
            {"at_risk": {"jpy": 500, "usd": 4900, "bhd": 1}},
            "with 0.001 BHD, 500 JPY and 49.00 USD at risk.",
        ),
        ({"at_risk": {}}, "with no money at risk."),
    ],
)
def test_the_verdict_is_a_sentence(changes: dict[str, object], said: str) -> None:
    assert said in page(a_result(**changes)).text


def test_what_may_be_wrong_with_the_files_stands_beside_the_verdict() -> None:
    said = page(a_result(), hints=(f"None of {HOSTILE} could be judged.",)).text

    assert said.index("1 mismatch between") < said.index("None of <script>") < said.index("Money at risk")


def test_of_many_the_largest_of_every_currency_are_shown_and_the_page_says_what_is_not() -> None:
    many = tuple(
        replace(MISMATCH, subject=Subject(f"intent:{currency}{n}"), at_risk=Money(n, currency))
        for currency, number in (("jpy", 10_000), ("usd", 3))
        for n in range(1, number + 1)
    )
    shown = findings.largest(list(many))
    text = page(a_result(mismatches=many)).text

    kept = findings.SHOWN - 3
    assert [each.at_risk for each in shown[:2]] == [Money(10_000, "jpy"), Money(9_999, "jpy")]
    assert [each.at_risk.amount_minor for each in shown if each.at_risk.currency == "usd"] == [3, 2, 1]
    assert len(shown) == findings.SHOWN
    assert f"And {10_003 - findings.SHOWN:,} more, of smaller amounts: --format csv lists them all." in text
    assert f"{findings.SHOWN - findings.OPEN} more of this kind" in text
    assert f"jpy{10_000 - kept + 1} " in text
    assert f"jpy{10_000 - kept} " not in text


def test_numbers_that_do_not_add_up_are_not_said_to() -> None:
    text = page(linked=2).text

    assert "Together, but 3 were compared" in text


def test_times_are_in_the_zone_that_is_said() -> None:
    late = replace(MISMATCH, since=datetime(2026, 3, 6, 23, 30, tzinfo=UTC))
    text = page(a_result(mismatches=(late,)), zone=ZoneInfo("Europe/Berlin"), zone_name="Europe/Berlin").text

    assert "All times are Europe/Berlin." in text
    assert "Since (Europe/Berlin)" in text
    assert "2026-03-07 00:30" in text
    assert "at most 1 in one hour, 2026-03-07 00:00" in text


def test_what_was_left_out_is_said_with_why() -> None:
    stray = (AccountId(""), Subject("refund:re_9"))
    counts = replace(COUNTS, superseded=1, system=2, unknown_status=3, matched_inferred=4, declared_repeats=5)
    text = page(
        a_result(
            counts=counts,
            in_flight=(InFlight(AccountId("acct_1"), Subject("intent:k2"), Kind.MISSING, AT),),
            healable=(Healable(AccountId(""), IntentKey("k3"), RefundId("re_3"), Basis.REQUEST_KEY),),
            rejected=(Reject("r.csv", 1200, "re_7", "currency is missing"),) * 101,
            withheld=(stray,),
        ),
        why_withheld={stray: "not all intents were read"},
    ).text

    for said in (
        "Rejected rows: 101",
        "r.csv 1,200 re_7 currency is missing",
        "And 1 more: --format json lists them all.",
        "In flight: 1",
        "intent:k2 acct_1 Refund missing 2026-03-06 17:00",
        "Healable: 1",
        "intent:k3 the platform re_3 request key",
        "Withheld: 1",
        "refund:re_9 the platform Not all intents were read",
        "1 row replaced by a later version",
        "2 refunds made by the provider itself",
        "3 refunds of a status that we do not know",
        "4 intents in agreement by inference alone",
        "5 intents like another on the same payment",
    ):
        assert said in text


def test_a_comparison_says_what_became_of_each_and_that_it_adds_up() -> None:
    def seen(kind: Kind, amount: int) -> Seen:
        return Seen(kind, Money(amount, "usd"))

    account = AccountId("")
    subjects = (
        Compared(Standing.NEW, account, Subject("intent:n"), None, seen(Kind.STUCK, 100)),
        Compared(
            Standing.PERSISTING, account, Subject("intent:p"), seen(Kind.STUCK, 200), seen(Kind.STUCK, 250)
        ),
        Compared(
            Standing.RECLASSIFIED,
            account,
            Subject("intent:c"),
            seen(Kind.STUCK, 300),
            seen(Kind.MISSING, 300),
        ),
        Compared(
            Standing.RESOLVED, account, Subject("intent:r"), seen(Kind.STUCK, 400), None, NowIs.IN_FLIGHT
        ),
        Compared(
            Standing.NOT_JUDGED, account, Subject("intent:x"), seen(Kind.STUCK, 500), None, NowIs.NOT_READ
        ),
        Compared(
            Standing.NOT_JUDGED, account, Subject("intent:y"), seen(Kind.STUCK, 600), None, NowIs.NOT_JUDGED
        ),
    )
    told = {(each.account, each.subject): each.before for each in subjects if each.before}
    comparison = Comparison(Earlier("old.json", AT, Verdict.BREAKS, told), subjects)
    text = page(comparison=comparison).text

    for said in (
        "Compared with old.json , judged as of 2026-03-06 17:00: mismatches found.",
        "Of those resolved, 1 is not settled",
        "New 1 1.00 USD",
        "Persisting 1 2.00 USD 2.50 USD",
        "Reclassified 1 3.00 USD 3.00 USD",
        "Resolved 1 4.00 USD",
        "Not judged 2 11.00 USD",
        "1 earlier mismatch rests on rows that are not in these files: nobody looked, so it may",
        "1 earlier mismatch was read and not judged: withheld, or of a rejected row.",
        "In the earlier report: persisting, reclassified, resolved, not judged 5 20.00 USD",
        "In this report: new, persisting, reclassified 3 6.50 USD",
        "intent:p Outcome unknown, 2.00 USD Outcome unknown, 2.50 USD other amount",
        "intent:r Outcome unknown, 4.00 USD In flight",
        "intent:x Outcome unknown, 5.00 USD Not in these files",
    ):
        assert said in text


def test_other_graces_are_named_with_what_is_usual() -> None:
    policy = replace(Policy(), stuck_after=2 * Policy().stuck_after)
    text = page(policy=policy, policy_from="policy.toml").text

    assert "The graces are those of policy.toml" in text
    assert "120 minutes not 60, as usual stuck_after_minutes" in text


def test_the_money_of_each_side_is_told_per_currency_and_status() -> None:
    told = (
        Total("intents", "pending_unknown", 1_200, Money(123_400, "usd")),
        Total("refunds", "together", 2, Money(7, "jpy"), is_sum=True),
    )
    text = page(totals=told).text

    assert "Status How many Amount Pending unknown 1,200 1,234.00 USD" in text
    assert "Status How many Amount Together 2 7 JPY" in text
    assert "Control totals" not in page().text


def test_the_bridge_is_told_line_by_line_and_whether_it_adds_up() -> None:
    system = (Total("refunds", totals.SYSTEM, 1, Money(700, "usd")),)
    text = page(bridge=BRIDGE, totals=system).text
    wrong = page(bridge=(*BRIDGE[:2], BRIDGE[3])).text

    assert (
        "USD: from done to went back, line by line Why How many Amount Marked done 2 intents 70.00 USD"
        " Refunded twice 1 intent +49.00 USD Refund missing 1 intent -21.00 USD"
        " Live refunds the lines above add up to it 2 refunds 98.00 USD"
        " What the provider made by itself is in none of them either: 7.00 USD."
    ) in text
    assert "but the lines above do not add up to it" in wrong
    assert "From our records to what went back" not in page().text


def test_an_id_is_not_broken_unless_it_is_longer_than_the_page() -> None:
    found = replace(MISMATCH, refund_ids=(RefundId("r" * 40), RefundId("r" * 41)))
    html = pages.as_html(a_report(a_result(mismatches=(found,))))

    assert f'<span class="id"><bdi>{"r" * 40}</bdi></span>' in html
    assert f"<span><bdi>{'r' * 41}</bdi></span>" in html
    assert ".id { white-space: nowrap; }" in html
