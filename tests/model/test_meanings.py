import pytest

from recon.model import meanings


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
        ("erfolgreich", "done", "succeeded"),
        ("Fehlgeschlagen", "failed", "failed"),
        ("Unklar", "pending_unknown", None),
        ("Remboursé", "done", "succeeded"),
        ("En attente", "pending", "pending"),
        ("Anulado", "cancelled", "canceled"),
        ("error", None, None),
        ("approved", None, None),
        ("reversed", None, None),
        ("1", None, None),
    ],
)
def test_a_word_means_something_or_is_open(word: str, intent: str | None, refund: str | None) -> None:
    assert meanings.meaning(word, "intents") == intent
    assert meanings.meaning(word, "refunds") == refund
