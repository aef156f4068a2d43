"""What a model is told: short, the same for the same state, and never an invitation to pay twice."""

from dataclasses import replace

import pytest

from recon.model import refusals
from recon.model.records.guarded import Outcome, Unfit, Wanted
from recon.model.records.provider import Intent
from recon.model.records.results import Money
from recon.model.records.words import IntentKey, IntentStatus
from recon.rules import outcomes
from tests.builders import PLATFORM, an_intent
from tests.rules.test_guarding import CANCELLED, DONE, FAILED, PENDING, SENT, UNKNOWN

NOUN = "refund of 49.00 USD for order 8812"
IT = f"The {NOUN}"
IT_TOO = f"the {NOUN}"
KEY = IntentKey("k")
ROW = replace(SENT, result_id="re_1")
ASKED = replace(ROW, fingerprint={"amount_minor": "4900", "currency": "usd"})
WANTED = Wanted("refund_order", NOUN, PLATFORM, KEY, {}, {})
AN_INTENT = an_intent()
AGAIN = "The same call may be made later."
WHAT = "the refund with the key k at the platform"
DISPUTED = refusals.refused(WHAT, status=400, code="charge_disputed", request="req_1", said="Charged back.")
LIMITED = refusals.answered(WHAT, status=429, request="req_1")
LONGEST = 330  # Characters of the longest of them for a usual order.

TOLD = [
    (
        outcomes.done(NOUN, ROW),
        "done",
        "re_1",
        f"{IT} is done (re_1). Tell the customer. Do not do it again.",
    ),
    (
        outcomes.done(NOUN, ROW, state="pending", again=True),
        "already_done",
        "re_1",
        (
            f"{IT} is accepted (re_1) and on its way. An earlier call did it. Tell "
            "the customer. Do not do it "
            "again."
        ),
    ),
    (
        outcomes.done(NOUN, SENT, again=True),
        "already_done",
        None,
        f"{IT} is done. An earlier call did it. Tell the customer. Do not do it again.",
    ),
    (
        outcomes.done(NOUN, ASKED, went=Money(4900, "usd")),
        "done",
        "re_1",
        f"{IT} is done (re_1). Tell the customer. Do not do it again.",
    ),
    (
        outcomes.done(NOUN, ASKED, went=Money(4900, "eur"), again=True),
        "already_done",
        "re_1",
        (
            f"{IT} is done (re_1), but 49.00 EUR went back, not 49.00 USD; hand it over to a person. An "
            "earlier call did it. Do not do it again."
        ),
    ),
    (
        outcomes.done(NOUN, ASKED, went=Money(49, "usd"), state="pending"),
        "done",
        "re_1",
        (
            f"{IT} is accepted (re_1) and on its way, but 0.49 USD goes back, not 49.00 USD; hand it over to "
            "a person. Do not do it again."
        ),
    ),
    (
        outcomes.unknown(NOUN, KEY),
        "pending_unknown",
        None,
        (
            f"It is not known yet whether {IT_TOO} is done. Do not try again now and do not do it in any "
            "other way. Tell the customer that it is being checked. Ask for its status later, and do what "
            "that says."
        ),
    ),
    (
        outcomes.unknown(NOUN, KEY, person=True),
        "pending_unknown",
        None,
        (
            f"It is not known yet whether {IT_TOO} is done. A person has to look into it. Do not try again "
            "now and do not do it in any other way. Tell the customer that it is being checked. Ask for its "
            "status later, and do what that says."
        ),
    ),
    (
        outcomes.absent(NOUN, ROW),
        "pending_unknown",
        None,
        (f"Nothing came of {IT_TOO} so far. The same call may be made now. Do not do it in any other way."),
    ),
    (
        outcomes.failed(NOUN, replace(SENT, refusal="the charge is disputed.")),
        "rejected",
        None,
        f"{IT} is not done: the charge is disputed. Do not try again; hand it over to a person.",
    ),
    (
        outcomes.failed(NOUN, replace(SENT, refusal=DISPUTED)),
        "rejected",
        None,
        (
            f"{IT} is not done: the customer disputes the payment with their bank. Do not try again; hand it "
            "over to a person."
        ),
    ),
    (
        outcomes.not_sent(NOUN, KEY, LIMITED),
        "rejected",
        None,
        f"{IT} was not sent: the provider answered 429. Nothing was done. {AGAIN}",
    ),
    (
        outcomes.never_asked("refund of order 8812"),
        "rejected",
        None,
        "No refund of order 8812 was ever asked for. Nothing was sent.",
    ),
    (
        outcomes.failed(NOUN, SENT),
        "rejected",
        None,
        f"{IT} is not done: it was settled as not done. Do not try again; hand it over to a person.",
    ),
    (
        outcomes.dead(NOUN, ROW, "failed"),
        "rejected",
        "re_1",
        (
            f"{IT} was made (re_1) and then became failed: the money did not "
            "arrive. Do not try again; hand it "
            "over to a person."
        ),
    ),
    (
        outcomes.disabled(NOUN, KEY),
        "disabled",
        None,
        (
            f"{IT} was not sent: this tool is switched off. No call has sent this one. Do not try again; "
            "hand it over to a person."
        ),
    ),
    (
        outcomes.kept_back(NOUN, KEY),
        "rejected",
        None,
        (
            f"{IT} was not sent while the tool was switched off. A person may have done it by hand: ask them "
            "before it is asked for again."
        ),
    ),
    (
        outcomes.not_sent(NOUN, KEY, "the provider is busy"),
        "rejected",
        None,
        f"{IT} was not sent: the provider is busy. Nothing was done. {AGAIN}",
    ),
    (
        outcomes.no_books(NOUN, KEY),
        "rejected",
        None,
        (
            f"{IT} was not sent by this call: the database in which it is written down does not answer. "
            f"What earlier calls did is not known now. Do not do it in any other way. {AGAIN}"
        ),
    ),
    (
        outcomes.drifted(WANTED, ("amount_minor", "payment"), ROW),
        "rejected",
        None,
        (
            f"{IT} was not sent: it was asked for before with another amount and payment. Whether what was "
            "asked for then is done is not known yet. Do not try again; hand it over to a person."
        ),
    ),
    (
        outcomes.refused("amount must be positive; found 0"),
        "rejected",
        None,
        "Nothing was sent: amount must be positive; found 0. Correct it, then ask again.",
    ),
    (
        outcomes.refused(Unfit("payment must be an id", for_person=True)),
        "rejected",
        None,
        "Nothing was sent: payment must be an id. Do not try again; hand it over to a person.",
    ),
]


@pytest.mark.parametrize("outcome, status, refund_id, message", TOLD, ids=[each[3][:90] for each in TOLD])
def test_what_is_told(outcome: Outcome, status: str, refund_id: str | None, message: str) -> None:
    expected = {"status": status, "message": message} | ({"refund_id": refund_id} if refund_id else {})

    assert outcome.to_model() == expected
    assert outcome.intent_key == (KEY if message.startswith(("The", "It", "Nothing came")) else None)


@pytest.mark.parametrize(
    "intent, status, sent, stands",
    [
        (AN_INTENT, DONE, True, "What was asked for then, 49.00 USD, is done (re_1)."),
        (AN_INTENT, UNKNOWN, True, "Whether what was asked for then, 49.00 USD, is done is not known yet."),
        (AN_INTENT, FAILED, True, "What was asked for then, 49.00 USD, is not done."),
        (AN_INTENT, CANCELLED, False, "What was asked for then, 49.00 USD, is not done."),
        (None, DONE, True, "What was asked for then is done (re_1)."),
        (None, FAILED, True, "What was asked for then is not done."),
    ],
)
def test_another_amount_is_told_what_stands_of_the_first(
    intent: Intent | None, status: IntentStatus, stands: str, *, sent: bool
) -> None:
    prints = {"amount_minor": "4900", "currency": "usd"}
    row = replace(ROW, status=status, fingerprint=prints, first_sent_at=ROW.first_sent_at if sent else None)
    told = outcomes.drifted(replace(WANTED, intent=intent), ("amount_minor",), row)

    assert told.message == (
        f"{IT} was not sent: it was asked for before with another amount. {stands} Do not try again; hand it "
        "over to a person."
    )


def test_only_what_was_certainly_not_sent_may_be_asked_for_again() -> None:
    may = {each.message for each, *_ in TOLD if AGAIN in each.message or "ask again" in each.message}

    assert len(may) == 4
    assert all("not sent" in each or "Nothing was sent" in each for each in may)
    others = [each.message for each, *_ in TOLD if each.message not in may]
    assert all("o not" in each or "ever asked for" in each or "ask them before" in each for each in others)


def test_what_is_told_is_short_and_holds_no_key_and_no_request() -> None:
    said = " ".join(each.message for each, *_ in TOLD)

    assert max(len(each.message) for each, *_ in TOLD) <= LONGEST
    assert "req_" not in said
    assert WHAT not in said


def test_what_is_no_refund_is_told_without_a_refund_and_a_customer() -> None:
    charge = "charge of 49.00 USD for INV-7"
    row = replace(ROW, result_id="pi_1")

    assert outcomes.done(charge, row).to_model() == {
        "status": "done",
        "message": f"The {charge} is done (pi_1). Do not do it again.",
        "id": "pi_1",
    }
    assert outcomes.unknown(charge, KEY).message == (
        f"It is not known yet whether the {charge} is done. Do not try again now and do not do it in any "
        "other way. Ask for its status later, and do what that says."
    )
    assert outcomes.failed(charge, row).to_model()["id"] == "pi_1"


def test_of_an_order_what_went_back_leads_then_what_may_have_and_the_newest_of_each() -> None:
    never, off = outcomes.failed(NOUN, SENT), outcomes.disabled(NOUN, KEY)
    open_, newer, older = (
        outcomes.unknown(NOUN, KEY),
        outcomes.done(NOUN, ASKED),
        outcomes.done(NOUN, ROW, again=True),
    )
    told = outcomes.together([off, never, open_, newer, older])

    assert replace(told, others=()) == newer
    assert told.others == (older, open_, off, never)
    assert told.to_model()["others"] == [each.to_model() for each in told.others]
    assert outcomes.together([never]) == never
    assert outcomes.together([never, open_]).status == "pending_unknown"


def test_intents_of_an_order_come_by_how_they_stand() -> None:
    stand = [CANCELLED, FAILED, UNKNOWN, PENDING, DONE]
    every = sorted((an_intent(status=each) for each in stand), key=outcomes.weight)

    assert [each.status for each in every] == [DONE, UNKNOWN, PENDING, CANCELLED, FAILED]
