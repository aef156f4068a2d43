"""tools.toml in, one registry out; what is wrong is named with its line."""

from datetime import timedelta
from pathlib import Path

import pytest

from recon.model import documents, registry
from recon.model.errors import ConfigurationError
from recon.model.records.tools import Effect, Limits, Registry, Tool

SHIPPED = Path(__file__).parents[2] / "config" / "tools.toml"
HEAD = """[tools.pay]
title = "Pay"
effect = "side_effect"
key = ["order_id", "line"]
fingerprint = ["amount"]
"""


def parsed(*texts: str) -> Registry:
    return registry.parse(documents.read(text, file="tools.toml") for text in texts)


def refused(text: str) -> str:
    with pytest.raises(ConfigurationError) as caught:
        parsed(text)
    return str(caught.value)


def test_the_shipped_file_has_the_default_limits() -> None:
    found = parsed(SHIPPED.read_text())

    assert list(found) == ["refund_order", "check_refund_status"]
    assert found["refund_order"].limits == Limits()
    assert found["refund_order"].key == ("order_id", "reference")
    assert (found["refund_order"].finder, found["refund_order"].keyed) == (True, True)
    assert found["check_refund_status"].effect is Effect.READ


def test_every_limit_stands_in_the_shipped_file_with_its_reason() -> None:
    lines = SHIPPED.read_text().splitlines()
    at = lines.index("[tools.refund_order.alert]")
    told = [(above, line) for above, line in zip(lines[at:], lines[at + 1 :], strict=False) if " = " in line][
        : len(registry.LIMITS)
    ]

    assert [line.partition(" = ")[0] for _, line in told] == list(registry.LIMITS)
    assert all(above.startswith("#") for above, _ in told)


def test_a_tool_says_what_it_needs_and_the_rest_is_ordinary() -> None:
    assert parsed(HEAD) == {
        "pay": Tool(
            "pay", Effect.SIDE_EFFECT, "pay", "Pay", key=("order_id", "line"), fingerprint=("amount",)
        )
    }


def test_every_key_is_read() -> None:
    more = 'operation = "charge"\nrepeat = "line"\nfinder = true\nkeyed = true\n[tools.pay.alert]\n'
    limits = (
        "window_minutes = 30\nrepeats = 4\ntwins = 3\ndeclared_twins = 6\nspike = 9\nspike_minutes = 2\n"
        "throws = true\n"
    )
    tool = parsed(HEAD + more + limits)["pay"]

    assert (tool.operation, tool.repeat, tool.finder, tool.keyed) == ("charge", "line", True, True)
    assert tool.limits == Limits(timedelta(minutes=30), 4, 3, 6, 9, timedelta(minutes=2), throws=True)


@pytest.mark.parametrize(
    "told, hours", [("", 0), ("looks_back_hours = 0\n", 0), ("looks_back_hours = 1.5\n", 1.5)]
)
def test_how_far_a_refund_tool_looks_back(told: str, hours: float) -> None:
    found = parsed(HEAD.replace('["amount"]', '["amount", "payment"]') + told)["pay"]

    assert found.looks_back == timedelta(hours=hours)


def test_a_later_file_adds_its_tools_and_takes_the_place_of_those_it_names() -> None:
    later = (
        '[tools.look]\ntitle = "Look"\neffect = "read"\n[tools.pay]\ntitle = "Mine"\neffect = "idempotent"\n'
    )
    found = parsed(HEAD, later)

    assert [(each.name, each.title, each.effect) for each in found.values()] == [
        ("pay", "Mine", "idempotent"),
        ("look", "Look", "read"),
    ]


@pytest.mark.parametrize(
    "text, said",
    [
        ("[tool.pay]\n", "line 1: unknown table 'tool'"),
        ("tools = 3\n", "line 1: tools must be written as [tools.NAME] tables"),
        ("[tools]\npay = 3\n", "line 2, [tools.pay]: expected a table"),
        ('[tools.Pay]\ntitle = "x"\n', "line 1, [tools.Pay]: expected a name in lower case"),
        ('[tools.pay]\ntitle = "Pay"\n', "line 1, [tools.pay]: effect is None; expected text"),
        ('[tools.pay]\neffect = "side"\n', "line 2, [tools.pay]: effect is 'side'; expected one of read"),
        ('[tools.pay]\neffect = "read"\n', "title is None"),
        ('[tools.pay]\neffect = "read"\ntitle = "P"\nkey = ["a"]\n', "line 4, [tools.pay]: key is for tools"),
        ('[tools.pay]\neffect = "side_effect"\ntitle = "P"\n', "key is None; a side effect needs a list"),
        (HEAD.replace('["order_id", "line"]', "[]"), "line 4, [tools.pay]: key is []"),
        (HEAD.replace('"line"', '"Call-Id"'), "key holds 'Call-Id'; expected a name in lower case"),
        (HEAD.replace('"line"', '"order_id"'), "key holds order_id, which is named already"),
        (
            HEAD.replace('["amount"]', '["line"]'),
            "line 5, [tools.pay]: fingerprint holds line, which",
        ),
        (HEAD + 'repeat = "amount"\n', "line 6, [tools.pay]: repeat is 'amount'; expected a field of key"),
        (HEAD.replace(', "line"', "") + 'repeat = "order_id"\n', "repeat is order_id, the only field of key"),
        (HEAD + 'operation = "Pay!"\n', "operation is 'Pay!'"),
        (HEAD + "finder = 1\n", "line 6, [tools.pay]: finder is 1; expected true or false"),
        (HEAD + "keyed = true\n", "line 6, [tools.pay]: keyed is true without a finder"),
        (HEAD + "looks_back_hours = 24\n", "line 6, [tools.pay]: looks_back_hours is for refund tools"),
        (
            HEAD.replace('["amount"]', '["payment"]') + "looks_back_hours = -1\n",
            "line 6, [tools.pay]: looks_back_hours is -1; expected a number of hours from 0",
        ),
        (HEAD + "retries = 1\n", "line 6, [tools.pay]: unknown key 'retries'; known are alert, effect"),
        (HEAD + "alert = 1\n", "line 6, [tools.pay.alert]: expected a table of limits"),
        (HEAD + "[tools.pay.alert]\ntwins = 1\n", "line 7, [tools.pay.alert]: twins is 1; expected a whole"),
        (HEAD + "[tools.pay.alert]\nthrow = true\n", "line 7, [tools.pay.alert]: unknown key 'throw'"),
        (
            HEAD + "[tools.pay.alert]\nwindow_minutes = 1441\n",
            "line 7, [tools.pay.alert]: window_minutes is 1441; expected 1440 at most",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, said: str) -> None:
    assert said in refused(text)
