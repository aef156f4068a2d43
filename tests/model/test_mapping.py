import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recon.model import mapping, mapping_toml, mapping_values
from recon.model.dtypes import INTENTS, KEYS, OURS, REFUNDS, TIME
from recon.model.errors import UnusableInput
from recon.model.mapping import Case, Column, Filter, Map, Side, Sign

EVERYTHING = """
[intents]
key = "idempotency_key"
payment = ["payment_intent", "info.charge"]
refund_id = "metadata[stripe.refund]"
amount = { column = "total", decimal = ",", thousands = ".", sign = "negative" }
currency = { constant = "eur" }
team = { column = "team", missing = "support" }
status = { column = "state", case = "lower", words = { refunded = "done" } }
created_at = { column = "made", format = "%d/%m/%Y %H:%M", zone = "Europe/Paris" }
updated_at = { column = "changed", format = "unix_ms" }
zone = "UTC"
empty = ["NULL", "-"]
where = [{ column = "type", is = "refund" }, { column = "test", is_not = ["true", ""] }]

[refunds]
id = "refund_id"
amount_minor = { sum = ["net", "tax"], sign = "either" }
"""


def test_a_map_says_where_every_column_comes_from() -> None:
    told = mapping_toml.read(EVERYTHING, file="map.toml")

    assert told == Map(
        intents=Side(
            columns={
                "key": Column(("idempotency_key",)),
                "payment": Column(("payment_intent", "info.charge")),
                "refund_id": Column(("metadata[stripe.refund]",)),
                "amount": Column(("total",), decimal=",", thousands=".", sign=Sign.NEGATIVE),
                "currency": Column(missing="eur"),
                "team": Column(("team",), missing="support"),
                "status": Column(("state",), case=Case.LOWER, words={"refunded": "done"}),
                "created_at": Column(("made",), format="%d/%m/%Y %H:%M", zone="Europe/Paris"),
                "updated_at": Column(("changed",), format="unix_ms"),
            },
            filters=(Filter("type", ("refund",)), Filter("test", ("true", ""), keep=False)),
            empty=("NULL", "-"),
            zone="UTC",
        ),
        refunds=Side(
            columns={
                "id": Column(("refund_id",)),
                "amount_minor": Column(sums=("net", "tax"), sign=Sign.EITHER),
            }
        ),
    )


def test_the_form_of_recon_toml_is_understood_as_well() -> None:
    text = """
    [intents]
    amount_unit = "major"
    [intents.columns]
    key = "number"
    amount_minor = "total"
    status = "state"
    [intents.statuses]
    refunded = "done"
    [intents.constants]
    currency = "usd"
    """

    assert mapping_toml.read(text, file="map.toml").intents.columns == {
        "key": Column(("number",)),
        "amount": Column(("total",)),
        "status": Column(("state",), words={"refunded": "done"}),
        "currency": Column(missing="usd"),
    }


def test_refunds_may_call_their_payment_as_intents_do() -> None:
    told = mapping_toml.read('[refunds]\npayment = "transaction"\n', file="map.toml")

    assert told.refunds.columns == {"payment_intent": Column(("transaction",))}


@pytest.mark.parametrize(
    "text, said",
    [
        ("[refunds", "map.toml must be a TOML file: "),
        ("x = " + "9" * 6000, "map.toml must be a TOML file: a number in it has thousands of digits."),
        ("", "map.toml must hold the tables [intents] and [refunds]; found neither."),
        ("[returns]\nid = 'x'", "map.toml must hold the tables [intents] and [refunds]; found 'returns' as"),
        ("[refunds]\nid='x'\nkey = 'x'", "map.toml, line 3, [refunds]: key is none of our columns: id, "),
        ("[refunds]\nid = 7", "line 2, [refunds]: id must map to the name of a column"),
        ("[refunds]\nid = []", "id must map to the name of a column"),
        ("[refunds]\nid = ''", "id must map to the name of a column"),
        ("[refunds]\nid = { constant = 'x' }", "id has no setting 'constant'; its settings are column, case"),
        ("[refunds]\namount = { colunm = 'x' }", "amount has no setting 'colunm'; its settings are column"),
        ("[refunds]\namount = { decimal = ',' }", "amount must have one of column, constant, sum"),
        ("[refunds]\namount = { column = 'a', sum = ['b'] }", "amount must have one of column"),
        ("[refunds]\nreason = { constant = 'a', case = 'lower' }", "must have nothing beside its constant"),
        ("[refunds]\namount = { column = 'a', currency_sign = 'yes' }", "true or false as currency_sign"),
        ("[refunds]\namount_minor = { column = 'a', currency_sign = true }", "no setting 'currency_sign'"),
        ("[refunds]\namount = { column = 'a', thousands = '.' }", "another text as thousands than as"),
        ("[refunds]\namount = { column = 'a', sign = 'minus' }", "one of positive, negative, either as sign"),
        ("[refunds]\ncreated_at = { column = 'a', zone = 'Paris' }", "a zone such as UTC, Europe/Paris"),
        ("[refunds]\ncreated_at = { column = 'a', format = '%H:%M' }", "or a pattern such as %d/%m/%Y %H:%M"),
        ("[refunds]\ncreated_at = { column = 'a', format = 7 }", "or a pattern such as"),
        (
            "[refunds]\nzone = 'UTC'\ncreated_at = { column = 'a', format = '%Y-%m-%d %Z' }",
            "or a pattern such as",
        ),
        (
            "[refunds]\ncreated_at = { column = 'a', format = '%Y-%m-%d%%z' }",
            "created_at must have a zone, or %z",
        ),
        (
            "[refunds]\ncreated_at = { column = 'a', format = '%d.%m.%Y' }",
            "created_at must have a zone, or %z",
        ),
        ("[refunds]\nstatus = { column = 'a', words = { ok = 'done' } }", "status must be one of pending, "),
        ("[refunds]\ncurrency = { constant = 'bitcoin' }", "currency must be a currency code of"),
        ("[refunds]\nstatus = 'a'\nstatuses = { ok = 'done' }", "line 3, [refunds]: statuses must be one of"),
        ("[refunds]\nwhere = [{ column = 'a' }]", "where must be a list of tables such as"),
        ("[refunds]\nzone = 'Mars/Olympus'", "zone must be a zone such as UTC"),
        ("[refunds]\nempty = 'NULL'", 'empty must be a list of texts such as ["NULL", "-"]'),
        ("[refunds]\namount = 'a'\namount_minor = 'a'", "amount must not name the column that amount_minor"),
        ("[refunds]\nid = 'a'\n[refunds.columns]\nid = 'b'", "line 4, [refunds]: columns.id is said twice"),
        ("[refunds]\namount_unit = 'major'", "amount_unit is the unit of amount_minor, which must be mapped"),
        ("[refunds]\namount_minor = 'a'\namount_unit = 'cents'", "amount_unit must be one of minor, major"),
    ],
)
def test_what_is_no_map_is_refused_with_its_place(text: str, said: str) -> None:
    with pytest.raises(UnusableInput) as caught:
        mapping_toml.read(text, file="map.toml")

    assert said in str(caught.value)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    "source, expected",
    [
        ("id", ("id",)),
        ("info.refund_id", ("info", "refund_id")),
        ("metadata[order_id]", ("metadata", "order_id")),
        ("metadata[a.b].c", ("metadata", "a.b", "c")),
        ("lines[0].id", ("lines", "0", "id")),
        ("meta[key=_order].value", ("meta", "key=_order", "value")),
        ("Amount (EUR)", ("Amount (EUR)",)),
        ("ends.", ("ends.",)),
        (".begins", (".begins",)),
        ("open[", ("open[",)),
        ("empty[]", ("empty[]",)),
    ],
)
def test_a_path_is_a_column_and_what_its_cells_hold(source: str, expected: tuple[str, ...]) -> None:
    assert mapping.steps(source) == expected


def test_a_header_comes_before_a_path() -> None:
    names = ["info.id", "info", "order"]

    assert mapping.located(names, "info.id") == ("info.id", ())
    assert mapping.located(names, "info[id]") == ("info", ("id",))
    assert mapping.located(names, "meta.id") is None
    assert mapping.located(names, "other") is None


@pytest.mark.parametrize(
    "name, minutes", [("UTC", 0), ("+05:30", 330), ("-0330", -210), ("Asia/Kolkata", 330)]
)
def test_a_zone_is_a_name_or_an_offset(name: str, minutes: int) -> None:
    offset = mapping.zone_of(name).utcoffset(mapping_values.PROBE.replace(tzinfo=None))

    assert offset is not None
    assert offset.total_seconds() == minutes * 60


NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12) | st.sampled_from(
    ["a b", 'say "x"', "back\\slash", "line\nbreak", "tab\t", "\x7f", "\U0001f600", "metadata[a.b]"]
)
SOURCES = st.lists(NAMES, min_size=1, max_size=3, unique=True).map(tuple)
WORDS = {
    "status": {INTENTS: ["done", "pending"], REFUNDS: ["succeeded"]},
    "currency": {INTENTS: ["usd", "jpy"], REFUNDS: ["usd", "jpy"]},
    "system": {REFUNDS: ["true", "false"]},
}


@st.composite
def columns(draw: st.DrawFn, side: str, name: str) -> Column:
    """Return any way that a column may be read."""
    if name in KEYS.values():
        return Column(draw(SOURCES), case=draw(st.sampled_from(Case)))
    ours = (
        st.sampled_from(WORDS[name][side])
        if name in WORDS
        else st.text(max_size=8, alphabet=string.printable)
    )
    if draw(st.booleans()):
        return Column(missing=draw(ours))
    if name in {"amount", "amount_minor"}:
        decimal, thousands = draw(st.sampled_from([(".", ""), (".", ","), (",", "."), (",", " ")]))
        sources, sign = draw(SOURCES), draw(st.sampled_from(Sign))
        if draw(st.booleans()):
            return Column(sums=sources, sign=sign, decimal=decimal, thousands=thousands)
        signed = name == "amount" and draw(st.booleans())
        return Column(sources, sign=sign, decimal=decimal, thousands=thousands, currency_sign=signed)
    if OURS[side][name] == TIME:
        formats = st.sampled_from([mapping.ISO, *mapping.EPOCHS, "%d.%m.%Y %z"])
        zoned = st.sampled_from([("%d.%m.%Y", "UTC"), ("%Y-%m-%d %H:%M:%S.%f", "+02:00")])
        format_, zone = draw(st.tuples(formats, st.sampled_from(["", "UTC", "+02:00"])) | zoned)
        return Column(draw(SOURCES), format=format_, zone=zone)
    return Column(
        draw(SOURCES),
        missing=draw(st.none() | ours),
        case=draw(st.sampled_from(Case)),
        words=draw(st.dictionaries(NAMES, ours, max_size=3)),
    )


@st.composite
def sides(draw: st.DrawFn, side: str) -> Side:
    """Return anything that a map may say of a side."""
    names = draw(st.lists(st.sampled_from(sorted(set(OURS[side]) - {"amount"})), min_size=1, unique=True))
    words = st.lists(st.text(max_size=5, alphabet=string.printable), min_size=1, max_size=3).map(tuple)
    return Side(
        {name: draw(columns(side, name)) for name in names},
        tuple(draw(st.lists(st.builds(Filter, NAMES, words, st.booleans()), max_size=2))),
        tuple(draw(st.lists(NAMES, max_size=2))),
        draw(st.sampled_from(["", "UTC", "-03:00"])),
    )


@given(st.builds(Map, sides(INTENTS), sides(REFUNDS)))
@settings(deadline=None)
def test_a_map_that_was_written_reads_back_as_it_was(told: Map) -> None:
    assert mapping_toml.read(mapping_toml.written(told), file="map.toml") == told


def test_plain_things_are_written_plainly() -> None:
    assert mapping_toml.written(mapping_toml.read(EVERYTHING, file="map.toml")).splitlines() == [
        "[intents]",
        'zone = "UTC"',
        'empty = ["NULL", "-"]',
        'where = [{ column = "type", is = "refund" }, { column = "test", is_not = ["true", ""] }]',
        'key = "idempotency_key"',
        'payment = ["payment_intent", "info.charge"]',
        'refund_id = "metadata[stripe.refund]"',
        'amount = { column = "total", sign = "negative", decimal = ",", thousands = "." }',
        'currency = { constant = "eur" }',
        'team = { column = "team", missing = "support" }',
        'status = { column = "state", case = "lower", words = { "refunded" = "done" } }',
        'created_at = { column = "made", format = "%d/%m/%Y %H:%M", zone = "Europe/Paris" }',
        'updated_at = { column = "changed", format = "unix_ms" }',
        "",
        "[refunds]",
        'id = "refund_id"',
        'amount_minor = { sum = ["net", "tax"], sign = "either" }',
    ]
