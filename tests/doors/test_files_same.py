"""The same rows are the same frame and the same rejects, in every format, read whole or in pieces."""

import json
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.doors.files import documents, reading, sources
from recon.model.mapping import Column, Filter, Map, Side
from tests.doors.refund_files import FLAT

CELLS = {
    "amount": st.sampled_from(["4900", "49.00", "49.0", "x", " 7 ", ""]),
    "amount_minor": st.sampled_from(["4900", "-1", "4900.0", ""]),
    "payment_intent": st.sampled_from(["pi_1", "\u00a0pi_1", ""]),
    "created_at": st.sampled_from([FLAT["created_at"], "2026-03-06", "soon"]),
    "kind": st.sampled_from(["refund", "payout", ""]),
}
MAPS = (
    Map(),
    Map(refunds=Side(filters=(Filter("kind", ("refund",)),))),
    Map(refunds=Side({"amount_minor": Column(("amount",))}, zone="UTC", empty=("x",))),
)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, str]]:
    """Return rows of one header, of which a row may lack what is empty."""
    more = draw(st.lists(st.sampled_from(sorted(CELLS)), unique=True))
    names = ["amount", "kind", *more]
    rows = draw(
        st.lists(st.fixed_dictionaries({name: CELLS[name] for name in names}), min_size=1, max_size=6)
    )
    plain = {"currency": "usd", "status": "succeeded", "created_at": FLAT["created_at"]}
    return [{"id": f"re_{number}", **plain, **row} for number, row in enumerate(rows)]


def read(path: Path, told: Map) -> tuple[object, ...]:
    """Return what became of a file's rows."""
    intake = reading.read_refunds(path, told)
    # A document has lines where a table has none, and a piece in which no row has a field has no such column.
    rejects = [
        (
            each.row,
            each.id,
            each.reason.partition(" (line")[0].replace("amount_minor is missing", "amount is missing"),
        )
        for each in intake.rejects
    ]
    return (
        intake.frame.astype(object).where(intake.frame.notna(), None).values.tolist(),
        rejects,
        intake.left_out,
    )


@pytest.mark.parametrize("told", MAPS, ids=["plain", "filtered", "mapped"])
@settings(max_examples=8)
@given(rows=tables())
def test_the_same_rows_are_read_alike_from_every_format(told: Map, rows: list[dict[str, str]]) -> None:
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        header = list(rows[0])
        table = [",".join(header), *(",".join(row[name] for name in header) for row in rows)]
        (folder / "a.csv").write_text("\n".join(table), encoding="utf-8")
        bare = [{key: cell for key, cell in row.items() if cell} for row in rows]
        bare[-1] = rows[-1]
        for content in ("a.json", "a.jsonl"):
            text = json.dumps(bare) if content == "a.json" else "\n".join(map(json.dumps, bare))
            (folder / content).write_text(text)
        pq.write_table(pa.Table.from_pylist(rows), folder / "a.parquet", row_group_size=2)

        whole = [read(path, told) for path in sorted(folder.iterdir())]
        patch.setattr(documents, "_VALUES", 2)
        patch.setattr(sources.Source, "is_large", lambda _: True)
        pieces = [read(path, told) for path in sorted(folder.iterdir())]

    assert [*whole, *pieces] == [whole[0]] * 8
