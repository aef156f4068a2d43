import pytest

from recon.model import wording
from recon.model.records.words import Action, Kind, Severity, Verdict


@pytest.mark.parametrize(
    "words, told",
    [
        (Kind, wording.KINDS),
        (Kind, wording.NEXT_STEPS),
        (Severity, wording.SEVERITIES),
        (Action, wording.ACTIONS),
        (Verdict, wording.VERDICTS),
    ],
)
def test_every_word_has_one_phrase_and_no_two_share_one(words: type, told: dict[str, str]) -> None:
    assert list(told) == list(words)  # type: ignore[call-overload]  # an enum class
    assert len(set(told.values())) == len(told)
    assert all(phrase and "_" not in phrase for phrase in told.values())


@pytest.mark.parametrize("kind", list(Kind))
def test_a_phrase_has_the_word_that_filters_and_reports_use(kind: Kind) -> None:
    word = kind.replace("_", " ")

    for phrase in (wording.named(kind), wording.counted(kind, 1), wording.counted(kind, 2)):
        assert phrase.count(word) == 1


@pytest.mark.parametrize(
    "kind, number, told",
    [
        (Kind.DUPLICATE, 10, "10 refunded twice (duplicate)"),
        (Kind.AMOUNT_MISMATCH, 2, "2 wrong amounts (amount mismatch)"),
        (Kind.MISSING, 1, "1 refund missing"),
        (Kind.MISSING, 2, "2 refunds missing"),
        (Kind.STUCK, 0, "0 outcomes unknown (stuck)"),
    ],
)
def test_how_many_reads_as_people_say_it(kind: Kind, number: int, told: str) -> None:
    assert wording.counted(kind, number) == told


def test_what_was_done_is_counted_without_its_explanation() -> None:
    assert wording.done(Action.REGRESSED, 2) == "2 regressed"
    assert wording.done(Action.CHANGED, 1) == "1 with other evidence"
