"""Files of refunds as other people write them, and what became of their rows."""

from pathlib import Path
from typing import Any

import pytest

from recon.doors.files import reading as files
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.mapping import Column, Map, Side

HEADER = "id,payment_intent,amount_minor,currency,status,created_at"
ROW = "re_1,pi_1,4900,usd,succeeded,2026-03-06T17:00:01Z"
FLAT = dict(zip(HEADER.split(","), ROW.split(","), strict=True))
OBJECT: dict[str, Any] = {
    "id": "re_1",
    "object": "refund",
    "amount": 4900,
    "balance_transaction": None,
    "charge": "ch_1",
    "created": 1772816401,
    "currency": "usd",
    "metadata": {"intent_key": "k1"},
    "payment_intent": "pi_1",
    "reason": None,
    "status": "succeeded",
}


def refunds_of(folder: Path, content: str | bytes, suffix: str = ".csv") -> Intake:
    path = folder / f"refunds{suffix}"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return files.read_refunds(path)


def mapped(**columns: str) -> Map:
    """Return a map of refunds that names one column for each of ours."""
    return Map(refunds=Side({ours: Column((theirs,)) for ours, theirs in columns.items()}))


def ids(intake: Intake) -> list[str]:
    return intake.frame["id"].tolist()


def refused(intake: Intake) -> list[tuple[int, str | None]]:
    return [(reject.row, reject.id) for reject in intake.rejects]


def unusable(folder: Path, content: str | bytes, suffix: str = ".csv") -> str:
    with pytest.raises(UnusableInput) as caught:
        refunds_of(folder, content, suffix)
    return str(caught.value)
