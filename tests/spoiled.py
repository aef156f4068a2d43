"""Files that somebody spoiled: good ones of every format with bytes changed, cut out, doubled or put in."""

import gzip
import io
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from typer.testing import CliRunner

from recon.cli import exits
from recon.cli.app import app
from recon.doors.files import reading, sources
from recon.doors.files.pieces import Reading
from recon.model import mapping_toml
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.layout import Named
from recon.model.mapping import EMPTY, Map

ROWS = [
    {
        "id": f"re_{number}",
        "payment_intent": f"pi_{number}",
        "amount_minor": str(100 * number),
        "currency": "usd",
        "status": "succeeded",
        "created_at": f"2026-03-0{number}T17:00:01Z",
        "reason": 'a "b", c\nd' if number == 2 else None,
        "metadata": json.dumps({"intent_key": f"k{number}", "list": [{"n": 1}]}),
    }
    for number in range(1, 6)
]
OBJECTS = [
    {
        "id": f"re_{number}",
        "object": "refund",
        "amount": 100,
        "charge": "ch_1",
        "created": 1772816401,
        "currency": "usd",
    }
    for number in range(6, 9)
]
MAPS = (
    EMPTY,
    mapping_toml.read(
        '[refunds]\namount_minor = { column = "amount_minor", thousands = "," }\nzone = "Europe/Paris"\n'
        'intent_key = ["metadata.list[0].n", "metadata[intent_key]"]\nempty = ["", "x"]\n'
        'where = [{ column = "currency", is_not = "eur" }]\n'
        'status = { column = "status", case = "lower", words = { ok = "succeeded" } }\n',
        file="map.toml",
    ),
)
_PIECES = (
    b"",
    b'"',
    b"\n",
    b",",
    b";",
    b"\0",
    b"\xff",
    b"{",
    b"]",
    b"\r\n",
    b"9" * 30,
    b"\\ud800",
    b"null",
    b"1e999",
)


def contents() -> dict[str, bytes]:
    """Return a good file of every format by suffix."""
    names = list(ROWS[0])
    quoted = [[str(row[name] or "").replace('"', '""') for name in names] for row in ROWS]
    csv, tsv = (
        "\n".join(between.join(f'"{cell}"' for cell in row) for row in [names, *quoted]).encode()
        for between in ",\t"
    )
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(ROWS), file)
    page = {"object": "list", "has_more": False, "data": OBJECTS}
    record = {"type": "RECORD", "record": {"stream": "refunds", "data": OBJECTS[0]}}
    return {
        ".csv": csv,
        ".tsv": tsv,
        ".json": json.dumps([*ROWS, page]).encode(),
        ".jsonl": b"\n".join(json.dumps(value).encode() for value in (*ROWS, page, record)),
        ".parquet": file.getvalue(),
        ".csv.gz": gzip.compress(csv, mtime=0),
    }


def spoil(content: bytes, chance: random.Random) -> bytes:
    """Return a file with a few things wrong."""
    for _ in range(chance.randint(0, 4)):
        first = chance.randrange(len(content) + 1)
        last = min(len(content), first + chance.choice((0, 1, 1, 2, 8, 60)))
        new = chance.choice((*_PIECES, content[last : last + 40], bytes([chance.randrange(256)])))
        content = content[:first] + new + content[last:]
    return content


def attempt(folder: Path, seed: int) -> Intake | None:
    """Return what a spoiled file gives; None where it is refused as a whole. Anything else is a bug."""
    chance = random.Random(seed)
    suffix, content = chance.choice(sorted(contents().items()))
    path = folder / f"refunds{suffix}"
    path.write_bytes(spoil(content, chance))
    told: Map = chance.choice(MAPS)
    assert seed % 5 or mapped(path)  # It reads a file several times.
    try:
        intake = reading.read_refunds(path, told)
    except UnusableInput:
        return None
    assert counted_through(path, told)
    return intake


def mapped(path: Path) -> bool:
    """Return whether `recon map` proposes a map that can be read; a file may be refused. Else it is a bug."""
    try:
        done = CliRunner().invoke(app, ["map", str(path), "--format", "toml"], catch_exceptions=False)
    except UnusableInput:
        return True
    return done.exit_code in {exits.OK, exits.FOUND} and bool(mapping_toml.read(done.stdout, file="it"))


def counted_through(path: Path, told: Map) -> bool:
    """Return whether every row of a file has a number of its own, and none is missing in between."""
    numbers: list[int] = []
    left_out = 0
    for source in sources.resolve([path]):
        begun = Reading("refunds", told.refunds, frozenset(), Named(source.label))
        for piece in vars(reading)["_READERS"][source.format](source, begun):
            numbers += [*piece.raw.index.tolist(), *piece.refusals]
            left_out += piece.left_out
    return len(set(numbers)) == len(numbers) and max(numbers, default=0) <= len(numbers) + left_out


def adds_up(intake: Intake) -> bool:
    """Return whether everything that was read is somewhere."""
    rest = len(intake.rejects) + intake.superseded + intake.duplicates + intake.left_out
    return intake.read == len(intake.frame) + rest
