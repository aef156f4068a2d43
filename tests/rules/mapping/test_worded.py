from collections.abc import Mapping, Sequence

import pytest

from recon.model import mapping_toml, samples
from recon.model.records.maps import Proposal, Question
from recon.rules.mapping import proposing, writing

Row = Mapping[str, object]
SHOP: Row = {
    "idempotency_key": "k1",
    "total": "49.00",
    "currency": "EUR",
    "date": "2026-03-06T17:00:00Z",
}


def proposed(**columns: Sequence[str]) -> Proposal:
    """Return what is proposed of rows that have these cells beside what a shop's row has."""
    size = len(next(iter(columns.values())))
    rows = [
        {**SHOP, "idempotency_key": f"k{place}"} | {name: cells[place] for name, cells in columns.items()}
        for place in range(size)
    ]
    return proposing.propose(samples.of("shop.csv", rows))


def line(proposal: Proposal) -> str:
    return next(
        (
            mapping_toml.written_column(each.ours, each.told)
            for each in proposal.lines
            if each.ours == "status"
        ),
        "",
    )


def asked(proposal: Proposal) -> Question:
    (question,) = (each for each in proposal.questions if each.about == "status")
    return question


@pytest.mark.parametrize(
    "header",
    ["Stand", "Zustand", "Bearbeitungsstatus", "Bearbeitungsstand", "Erstattungsstatus", "Ergebnis", "Was"],
)
def test_a_status_is_known_by_its_name_or_by_its_words_alone(header: str) -> None:
    words = 'words = { "Erledigt" = "done", "Storniert" = "cancelled", "Unklar" = "pending_unknown" }'
    proposal = proposed(**{header: ["Erledigt", "Erledigt", "Storniert", "Unklar"]})

    assert line(proposal) == f'status = {{ column = "{header}", {words} }}'


def test_words_that_are_open_in_a_column_that_no_name_tells_are_asked() -> None:
    question = asked(proposed(Was=["Erledigt", "Erledigt", "Storniert", "Kulanz"]))

    assert "the status in Was say by 'Kulanz' (1)?" in question.text
    words = 'words = { "Erledigt" = "done", "Storniert" = "cancelled", "Kulanz" = "pending_unknown" }'
    assert [writing.answer(each) for each in question.choices] == [f'status = {{ column = "Was", {words} }}']


@pytest.mark.parametrize(
    "columns, first",
    [
        ({"Was": ["bezahlt"] * 4}, "Was"),
        ({"Was": ["Offen", "Erledigt"] * 2, "Post": ["Abgebrochen", "Abgeschlossen"] * 2}, "Was"),
    ],
)
def test_a_column_that_may_be_another_s_words_is_an_answer_before_all_went_through(
    columns: Mapping[str, Sequence[str]], first: str
) -> None:
    choices = [writing.answer(each) for each in asked(proposed(**columns)).choices]

    assert choices[0].startswith(f'status = {{ column = "{first}", words = ')
    assert len(choices) == len(columns) + 1
    assert choices[-1] == 'status = { constant = "done" }'


@pytest.mark.parametrize(
    "cells, named",
    [
        (["Ganz", "Ganz", "Weg", "Weg"], True),
        (["Ganz", "Halb", "Weg", "Rest"], False),
        (["1", "1", "2", "2"], False),
        (["Ganz"] * 4, False),
    ],
)
def test_a_column_of_few_words_is_named_before_all_went_through_is_offered(
    cells: Sequence[str], *, named: bool
) -> None:
    question = asked(proposed(Was=cells))

    assert ("Was (Ganz, Weg)" in question.text) is named
    assert [writing.answer(each) for each in question.choices] == ['status = { constant = "done" }']


def test_times_are_no_words_of_a_status_whatever_their_column_is_called() -> None:
    proposal = proposed(Statusdatum=["2026-03-06", "2026-03-07"], **{"Status seit": ["2026-03-06"] * 2})

    assert asked(proposal).text.startswith("No column holds a status")


def test_a_header_that_stands_there_once_more_is_no_word_of_a_status() -> None:
    rows: list[Row] = [{**SHOP, "Status": "Erledigt"}, {name: name for name in (*SHOP, "Status")}]
    proposal = proposing.propose(samples.of("shop.csv", rows))

    assert line(proposal) == 'status = { column = "Status", words = { "Erledigt" = "done" } }'
    assert not [each for one in proposal.lines for each in one.doubts]
