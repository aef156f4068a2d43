"""What is written down of a refusal, and what of it a model is told."""

import pytest

from recon.model import refusals

WHAT = "the refund with the key refund_order:8812:0af1 at account acct_1"


def refused(status: int, code: str | None, said: str) -> str:
    return refusals.refused(WHAT, status=status, code=code, request="req_9", said=said)


@pytest.mark.parametrize(
    "written, spoken",
    [
        (refused(400, "charge_disputed", "Charge ch_1 has been charged back."), "the customer disputes the"),
        (
            refused(404, "resource_missing", "No such payment_intent: 'pi_0'"),
            "the provider knows no such payment",
        ),
        (refused(400, "charge_already_refunded", "Charge ch_1 has ..."), "nothing is left of the payment"),
        (
            refused(400, None, "Refund amount ($2.00) is greater than unrefunded amount on charge ($1.00)"),
            "it is more",
        ),
        (refused(401, None, "Invalid API Key provided: ***"), "this tool has no valid key of the provider"),
        (
            refused(403, None, "The provided key does not have ..."),
            "this tool may not do that at the provider",
        ),
        (refused(402, "never_seen", "Ask req_1 again: at once"), "the provider refused it"),
        (refusals.answered(WHAT, status=429, request="req_9"), "the provider answered 429."),
        (f"{WHAT} broke off: the provider did not answer (timed out).", "the provider did not answer."),
        (
            f"{WHAT} broke off: the answer (502, request req_9) is not the provider's.",
            "the answer is not the",
        ),
        ("the address is unknown (street), see request req_12", "the address is unknown (street), see"),
        (
            "refund re_1 was made and is failed:\nthe money did not arrive",
            "refund re_1 was made and is failed: the",
        ),
        (
            "another refund of the same payment is not settled yet",
            "another refund of the same payment is not",
        ),
    ],
)
def test_a_model_hears_neither_a_key_nor_a_request(written: str, spoken: str) -> None:
    told = refusals.spoken(written)

    assert told.startswith(spoken)
    assert not any(each in told for each in ("req_", "refund_order:", "acct_1", "***", "\n"))


def test_what_is_written_down_names_both() -> None:
    expected = f"{WHAT} was refused with 404 resource_missing, request req_9: No such thing."

    assert refused(404, "resource_missing", "No such thing.") == expected
    assert (
        refusals.answered("page 1", status=502, request=None)
        == "page 1 broke off: the provider answered 502."
    )


def test_a_long_text_is_cut() -> None:
    assert len(refusals.spoken("again " * 100)) == 120


@pytest.mark.parametrize(
    "said, expected",
    [
        ("Invalid key sk_" + "test_51Habc.", "Invalid key ***."),
        ("rk_" + "live_1 and whsec_1", "*** and ***"),
        ("xoxb-1-2, xapp-1-A", "***, ***"),
        ("header Bearer abc.def was wrong", "header Bearer *** was wrong"),
        ("smtp://bob:hunter2@mail and https://mail/?to=a@b", "smtp://***@mail and https://mail/?to=a@b"),
        ("Ask ana@example.com: task_1", "Ask ana@example.com: task_1"),
    ],
)
def test_what_looks_like_a_secret_is_starred_and_nothing_else(said: str, expected: str) -> None:
    assert (refusals.masked(said), refusals.spoken(said)) == (expected, expected)
