import pytest

from recon.model import subjects
from recon.model.records.words import Subject


@pytest.mark.parametrize("name", ["k1", "refund:8812:ab", ""])
def test_a_subject_gives_back_its_side_and_its_name(name: str) -> None:
    assert subjects.parted(subjects.of_intent(name)) == (subjects.INTENT, name)
    assert subjects.parted(subjects.of_refund(name)) == (subjects.REFUND, name)


def test_a_subject_is_written_as_files_and_databases_hold_it() -> None:
    assert subjects.of_intent("k1") == Subject("intent:k1")
    assert subjects.of_refund("re_1") == Subject("refund:re_1")


def test_an_intent_whose_key_begins_like_a_refund_is_an_intent() -> None:
    assert subjects.is_intent(subjects.of_intent("refund:8812"))
    assert not subjects.is_intent(subjects.of_refund("intent:8812"))


def test_both_sides_begin_with_as_many_letters_as_the_store_cuts_off() -> None:
    assert len(subjects.OF_INTENTS) == len(subjects.OF_REFUNDS) == 7
