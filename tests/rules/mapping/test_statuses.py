import pytest

from recon.model.records.maps import Word
from recon.rules.mapping import statuses


@pytest.mark.parametrize(
    "word, intent, refund",
    [
        ("Success", "done", "succeeded"),
        ("REFUNDED", "done", "succeeded"),
        ("refund_success", "done", "succeeded"),
        ("In Progress", "pending", "pending"),
        ("in-transit", "pending", "pending"),
        ("requires_action", "pending", "requires_action"),
        ("timed out", "pending_unknown", None),
        ("declined", "failed", "failed"),
        ("Cancelled", "cancelled", "canceled"),
        ("error", None, None),
        ("approved", None, None),
        ("reversed", None, None),
        ("1", None, None),
    ],
)
def test_a_word_means_something_or_is_open(word: str, intent: str | None, refund: str | None) -> None:
    assert statuses.meaning(word, "intents") == intent
    assert statuses.meaning(word, "refunds") == refund


def test_words_are_counted_as_a_map_spells_them() -> None:
    found = statuses.words([True, True, "Done ", "Done"], "intents")

    assert found == (Word("true", 2, None), Word("Done", 2, "done"))
