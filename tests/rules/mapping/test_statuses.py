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
        ("Erstattet", "done", "succeeded"),
        ("Bezahlt", "done", "succeeded"),
        ("Abgeschlossen", "done", "succeeded"),
        ("In Bearbeitung", "pending", "pending"),
        ("Offen", "pending", "pending"),
        ("Abgelehnt", "failed", "failed"),
        ("Storniert", "cancelled", "canceled"),
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


def test_each_of_our_words_is_explained_to_whoever_chooses() -> None:
    for side, ours in statuses.OURS.items():
        explained = [part.partition(":")[0].strip() for part in statuses.MEANINGS[side].split(";")]

        assert sorted(explained) == sorted(ours)
