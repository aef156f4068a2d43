"""What a source may hold, and by which names it is known.

Never imports what reads one: the options of a command need these words before anything is read.
"""

from enum import StrEnum

STDIN = "-"
"""The name of standard input."""


class FileFormat(StrEnum):
    """What a file holds."""

    CSV = "csv"  # With any of the usual separators.
    JSON = "json"
    JSONL = "jsonl"  # A value on each line.
    PARQUET = "parquet"


SUFFIXES = {
    ".csv": FileFormat.CSV,
    ".json": FileFormat.JSON,
    ".jsonl": FileFormat.JSONL,
    ".parquet": FileFormat.PARQUET,
    ".tsv": FileFormat.CSV,
    ".ndjson": FileFormat.JSONL,
}
