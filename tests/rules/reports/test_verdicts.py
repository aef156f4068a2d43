from dataclasses import replace

import pytest

from recon.model.records.words import Certainty
from recon.rules.reports import verdicts
from tests.rules.reports.results import MISMATCH

SURE = replace(MISMATCH, certainty=Certainty.CONFIRMED)


@pytest.mark.parametrize(
    "probable, confirmed, said",
    [
        (0, 0, "0"),
        (0, 1, "1"),
        (1, 0, "1, probable"),
        (4, 0, "4, all probable"),
        (1, 3, "4, 1 of them probable"),
        (1_200, 1, "1,201, 1,200 of them probable"),
    ],
)
def test_how_many_are_probable_is_said_as_people_say_it(probable: int, confirmed: int, said: str) -> None:
    assert verdicts.numbered([MISMATCH] * probable + [SURE] * confirmed) == said
