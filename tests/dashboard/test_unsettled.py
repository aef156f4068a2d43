"""A stuck intent on its page: looked up, confirmed as refunded or as not, and what the tool's calls were."""

from datetime import timedelta

import pytest
from sqlalchemy import insert, select
from streamlit.testing.v1 import AppTest

from dashboard import asking
from recon.doors.store import cases as book
from recon.doors.store.engines import Database
from recon.model import tables
from recon.model.guarded import calls
from recon.model.records.cases import Case
from recon.model.records.tools import ToolCall
from recon.model.records.words import Action, IntentKey, IntentStatus, Kind
from tests import seeds
from tests.builders import NOON, PLATFORM
from tests.dashboard.conftest import Visit, now, words
from tests.dashboard.test_decision import WHY, decide, last, of_kind
from tests.dashboard.test_decision import asking as page_of
from tests.sandboxes import STRIPE_KEY, Street


@pytest.fixture
def stuck(database: Database, sandbox: Street, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A case of an intent sent three hours ago, whose payment is at the sandbox."""
    monkeypatch.setenv("STRIPE_API_KEY", STRIPE_KEY)
    monkeypatch.setenv("RECON_STRIPE_BASE_URL", sandbox.url)
    case = of_kind(seeds.trouble(database, now=now() - timedelta(minutes=5)), Kind.STUCK)
    at_risk = case.mismatch.at_risk
    sandbox.payment(str(case.mismatch.payment), 4 * at_risk.amount_minor, at_risk.currency)
    return case


def refunded(sandbox: Street, case: Case, minor: int = 0) -> str:
    """Make a refund at the provider, by hand."""
    amount = minor or case.mismatch.at_risk.amount_minor
    return str(sandbox.control("refunds", payment=case.mismatch.payment, amount=amount)["id"])


def intent(database: Database, case: Case) -> tuple[str, str | None]:
    columns = tables.intents.c
    query = select(columns.status, columns.refund_id)
    with database.read() as connection:
        found = connection.execute(query.where(columns.key == case.mismatch.intent_key)).one()
    return found.status, found.refund_id


def looked(case: Case) -> AppTest:
    """Open the dialog that looks, which asks for nothing."""
    page = AppTest.from_function(page_of, default_timeout=60)
    page.query_params.update({"case": case.id, "move": str(Action.LOOKED)})
    return page.run()


def test_only_a_stuck_case_is_settled_by_the_providers_word(
    database: Database, stuck: Case, visit: Visit
) -> None:
    page = visit("case", case=stuck.id)

    shown = [each.label for each in page.button]
    assert [each for each in shown if "onfirm" in each or "Look" in each] == [
        "Look again now",
        "Confirm as refunded",
        "Confirm as not refunded",
    ]


def primary(page: AppTest) -> list[str]:
    return [each.label for each in page.button if each.proto.type == "primary"]


def test_what_stands_out_is_to_look_and_then_to_confirm_what_was_found(
    database: Database, sandbox: Street, stuck: Case, visit: Visit
) -> None:
    made = refunded(sandbox, stuck)
    page = visit("case", case=stuck.id)
    assert primary(page) == ["Look again now"]

    dialog = looked(stuck)
    dialog.query_params["move"] = str(Action.CONFIRMED)
    dialog.run()
    assert dialog.text_input(key="refund").value == made
    assert "Confirm it by this id, or type another." in words(dialog)

    name = f"likely-{stuck.id}"
    page.session_state[name] = dialog.session_state[name]
    assert primary(page.run()) == ["Confirm as refunded"]


def test_without_a_look_nothing_is_filled_in_that_the_evidence_does_not_name(stuck: Case) -> None:
    dialog = AppTest.from_function(page_of, default_timeout=60)
    dialog.query_params.update({"case": stuck.id, "move": str(Action.CONFIRMED)})

    assert dialog.run().text_input(key="refund").value == ""


def test_a_look_shows_what_is_there_and_stays_in_the_story(
    database: Database, sandbox: Street, stuck: Case, visit: Visit
) -> None:
    made = refunded(sandbox, stuck)

    page = looked(stuck)
    page.run()  # A dialog is run again with every click in it: it has asked once.

    said = words(page)
    assert f"{made} of " in said
    assert f"Whose {made} is has to be said first" in said
    assert "If nothing was refunded: safe to send again with the same key until" in said
    assert len(sandbox.requests("GET", "/v1/refunds")) == 1
    assert [each.entry.action for each in book.entries(database, stuck.id)] == [Action.OPENED, Action.LOOKED]
    assert made in words(visit("case", case=stuck.id))


def test_of_a_refund_that_is_found_nothing_is_said_of_sending_it_again(sandbox: Street, stuck: Case) -> None:
    key, payment = stuck.mismatch.intent_key, stuck.mismatch.payment
    amount = stuck.mismatch.at_risk.amount_minor
    sandbox.control("refunds", payment=payment, amount=amount, metadata={"intent_key": key})

    said = words(looked(stuck))

    assert "is this intent's" in said
    assert "If nothing was refunded" not in said


def test_a_look_that_breaks_off_says_so(database: Database, sandbox: Street, stuck: Case) -> None:
    sandbox.fault("GET /v1/refunds", "drop_before", times=4)

    assert "Not everything was read" in str([each.value for each in looked(stuck).markdown])
    assert "which proves nothing" in last(database, stuck)[2]


def test_a_desk_without_a_key_says_what_is_missing(
    database: Database, stuck: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("STRIPE_API_KEY")

    assert "STRIPE_API_KEY is not set" in words(looked(stuck))
    assert len(book.entries(database, stuck.id)) == 1


def test_a_refund_that_fits_confirms_the_intent_with_its_amount_on_the_button(
    database: Database, sandbox: Street, stuck: Case, visit: Visit
) -> None:
    made = refunded(sandbox, stuck)

    page = decide(stuck, Action.CONFIRMED, lambda page: page.text_input(key="refund").set_value(f" {made} "))

    assert page.session_state["said"] == (
        "Confirmed as refunded. Saved with your reason. The next run judges it."
    )
    assert intent(database, stuck) == (IntentStatus.DONE, made)
    action, who, reason = last(database, stuck)
    assert (action, who) == (Action.CONFIRMED, "local operator")
    assert reason.endswith(f"is done by it. {WHY}")
    later = visit("case", case=stuck.id)
    assert "Confirmed as refunded by local operator" in words(later)
    assert "Confirm as refunded" not in [each.label for each in later.button]


@pytest.mark.parametrize(
    "typed, said", [("re_wrong", "shows no refund re_wrong"), ("", "Name the refund by its id.")]
)
def test_a_wrong_id_is_refused_in_words_and_changes_nothing(
    database: Database, stuck: Case, typed: str, said: str
) -> None:
    page = decide(stuck, Action.CONFIRMED, lambda page: page.text_input(key="refund").set_value(typed))

    assert said in words(page)
    assert intent(database, stuck) == (IntentStatus.PENDING_UNKNOWN, None)


def test_what_was_not_refunded_is_said_with_until_when_its_key_is_safe(
    database: Database, stuck: Case, visit: Visit
) -> None:
    asked: list[str] = []

    page = decide(stuck, Action.REFUTED, lambda page: asked.append(words(page)))

    amount = f"{stuck.mismatch.at_risk.amount_minor // 100}."
    assert "If nothing was refunded: safe to send again with the same key until" in asked[0]
    assert amount in asked[0]
    assert "Safe to send again with the same key until" in page.session_state["said"]
    assert intent(database, stuck) == (IntentStatus.FAILED, None)
    assert "Safe to send again with the same key until" in words(visit("case", case=stuck.id))


def test_a_refund_that_may_be_its_own_stands_against_not_refunded(
    database: Database, sandbox: Street, stuck: Case
) -> None:
    made = refunded(sandbox, stuck)

    page = decide(stuck, Action.REFUTED)

    assert f"Refund {made}" in words(page)
    assert intent(database, stuck) == (IntentStatus.PENDING_UNKNOWN, None)


def test_the_calls_of_the_tool_are_shown_with_what_drifted(
    database: Database, stuck: Case, visit: Visit
) -> None:
    first: dict[str, object] = {
        "account": "",
        "intent_key": stuck.mismatch.intent_key,
        "tool": "refund_order",
    }
    at = now() - timedelta(hours=3)
    rows: list[dict[str, object]] = [
        {"caller": "agent 1", "call_id": "c1", "answer": "pending_unknown", "asked": {"amount": "49.00"}},
        {"caller": "<b>agent 2</b>", "call_id": "c2", "answer": None, "asked": {"amount": "50.00"}},
    ]
    with database.write() as connection:
        connection.execute(
            insert(calls),
            [first | row | {"asked_at": at + timedelta(seconds=n)} for n, row in enumerate(rows)],
        )

    page = visit("case", case=stuck.id)

    shown = page.dataframe[0].value
    assert "2 calls under one key: it is one intent all the same." in words(page)
    assert list(shown["By"]) == ["agent 1", "<b>agent 2</b>"]
    assert list(shown["Answer"]) == ["pending_unknown", asking.UNANSWERED]
    assert list(shown[asking.COLUMNS[-1]]) == ["—", "amount: 49.00 → 50.00"]


def test_calls_under_a_key_each_are_shown_together_and_said_to_be_refunds_of_their_own(
    database: Database, visit: Visit
) -> None:
    case = seeds.trouble(database, now=now() - timedelta(minutes=5))[0]
    keys = [str(case.mismatch.intent_key), "call_2"]
    with database.write() as connection:
        second = {"key": "call_2", "refund_id": case.mismatch.refund_ids[1]}
        row = (
            connection.execute(select(tables.intents).where(tables.intents.c.key == keys[0])).mappings().one()
        )
        connection.execute(insert(tables.intents), [{**row, **second}])
        told = {"account": "", "tool": "refund_order", "answer": "done", "asked": {}}
        rows = [
            told | {"intent_key": key, "asked_at": now(), "call_id": key, "caller": "agent"} for key in keys
        ]
        connection.execute(insert(calls), rows)

    page = visit("case", case=case.id)

    assert "2 calls under 2 keys: the provider takes each key for a refund of its own." in words(page)
    assert list(page.dataframe[0].value["Key"]) == keys


@pytest.mark.parametrize(
    "number, keys, said",
    [
        (1, 1, "One call was recorded under its key."),
        (18, 1, "18 calls under one key: it is one intent all the same."),
        (1_200, 2, "1,200 calls under 2 keys: the provider takes each key for a refund of its own."),
    ],
)
def test_what_calls_say_of_an_intent(number: int, keys: int, said: str) -> None:
    assert asking.counted(number, keys) == said


def test_a_case_without_calls_has_no_list_of_them(stuck: Case, visit: Visit) -> None:
    assert "Calls of the tool" not in words(visit("case", case=stuck.id))


def test_what_was_left_out_and_what_is_odd_drifts_in_words() -> None:
    def call(**asked: object) -> ToolCall:
        return ToolCall(1, PLATFORM, IntentKey("k"), "refund_order", NOON, asked)

    assert asking.drifted(call(a=1, b=["x"]), call(a=1, b=["x"])) == ()
    assert asking.drifted(call(a=1, b=""), call(b={"y": 1})) == ("a: 1 → nothing", "b: nothing → {'y': 1}")
