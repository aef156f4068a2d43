import pytest
from hypothesis import given
from hypothesis import strategies as st

from recon.rules.lint import finding
from tests.rules.lint.reading import rules_of


@pytest.mark.parametrize(
    "text, reason",
    [
        ("def (:\n", "line 1 is not Python"),
        ("x = 1\nprint 'refund'\n", "line 2 is not Python"),
        ("refund = " + "(" * 500 + ")" * 500, "line 1 is not Python"),
        ("refund = " + "-" * 100_000 + "1", "it cannot be parsed as Python"),
    ],
)
def test_what_is_no_python_is_a_value_that_says_where(text: str, reason: str) -> None:
    reading = finding.find(text, "a.py")

    assert reading.flaws == ()
    assert reading.unreadable is not None
    assert reading.unreadable.startswith(reason)


@given(st.text(), st.sampled_from(finding.SUFFIXES))
def test_no_text_is_too_strange(text: str, suffix: str) -> None:
    finding.find(text + " refund retry again recon:", f"a{suffix}")


PIECES = st.sampled_from(
    [
        *(
            "key = key or uuid4()",
            "stripe.Refund.create(**key)",
            "key += key",
            "def f(key=f()): return f(key)",
        ),
        *(
            "for key in range(key): key = f(key=key)",
            "key.key = key",
            "{**key, 'idempotency_key': key}",
            "f(*key)",
        ),
        *(
            "while key: break",
            "try:\n    refund(key)\nexcept key:\n    return 'failed'",
            "key[key] = key",
            "lambda: key",
        ),
        *(
            "headers.update(headers)",
            "requests.post(key, headers=headers)",
            "headers = {**headers}",
            "import key as f",
        ),
    ]
)


@given(st.lists(PIECES, max_size=8))
def test_what_goes_round_in_circles_ends(pieces: list[str]) -> None:
    body = "\n".join(f"    {line}" for piece in pieces for line in piece.split("\n"))

    assert (
        finding.find(f"def f(key, headers):\n    pay(idempotency_key=f(key))\n{body}\n", "a.py").unreadable
        is None
    )


def test_findings_stand_in_the_order_of_the_text() -> None:
    text = (
        "PROMPT = 'If the refund fails, try again.'\nimport stripe\n"
        "def f(c):\n    stripe.Refund.create(charge=c)\n    stripe.Refund.create(idempotency_key=uuid4())\n"
    )

    assert rules_of(text) == ["prompt-retry", "missing-key", "key-from-random"]
