"""What comes out of every file of a folder: python -m tests.shapes_table FOLDER [MAPS].

MAPS holds maps named as the files that need one (shop.csv.toml for shop.csv); a map with [intents] makes its
file one of intents. One line per file: rows read, what stands by currency and status, what does not, what was
said.
"""

import sys
from pathlib import Path

from recon.doors.files import reading
from recon.model.errors import UnusableInput
from recon.model.frames import Intake
from recon.model.mapping import EMPTY, Map


def standing(intake: Intake) -> str:
    """Return the money of one side by currency and status."""
    if intake.frame.empty:
        return "nothing"
    keyed = intake.frame.assign(status=intake.frame["status"].fillna("no status"))
    summed = keyed.groupby(["currency", "status"])["amount_minor"].agg(["size", "sum"])
    told = summed.reset_index().to_dict("records")
    return ", ".join(f"{row['currency']} {row['status']} {row['sum']} ({row['size']})" for row in told)


def line(path: Path, maps: Path | None) -> str:
    """Return what comes out of one file."""
    mapped = maps / f"{path.name}.toml" if maps is not None else None
    told: Map = reading.read_mapping(mapped) if mapped is not None and mapped.exists() else EMPTY
    read = reading.read_intents if told.intents.columns else reading.read_refunds
    try:
        intake = read(path, told)
    except UnusableInput as error:
        return f"| {path.name} | refused | {error} |"
    told_ = [*intake.notes, *(reject.reason for reject in intake.rejects)]
    rest = (
        f"{len(intake.rejects)} rejected, {intake.superseded} superseded, {intake.duplicates} equal,"
        f" {intake.left_out} left out"
    )
    counts = f"{intake.read} read = {len(intake.frame)} standing + {rest}"
    return f"| {path.name} | {counts}: {standing(intake)} | {' / '.join(dict.fromkeys(told_))} |"


def main(arguments: list[str]) -> None:
    """Print the table of a folder."""
    folder = Path(arguments[0])
    maps = Path(arguments[1]) if len(arguments) > 1 else None
    for path in sorted(folder.iterdir()):
        sys.stdout.write(f"{line(path, maps)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
