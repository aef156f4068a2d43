import pytest

from recon.model import tool_texts
from recon.model.records.guarded import OutcomeStatus
from recon.rules.lint import finding

TEXTS = [tool_texts.PROMPT, *(each.docstring for each in tool_texts.TOOLS)]


@pytest.mark.parametrize("text", TEXTS)
def test_what_a_model_reads_passes_our_own_lint(text: str) -> None:
    assert finding.find(text, "prompt.md").flaws == ()


def test_the_lint_would_have_seen_it() -> None:
    worse = tool_texts.PROMPT.replace(
        "Do not try again by yourself, and never\n  try another", "Call refund_order again, any"
    )

    assert len(finding.find(worse, "prompt.md").flaws) == 1


def test_a_model_is_shown_nothing_that_is_not_its_to_say() -> None:
    shown = {each.name: each.schema["properties"] for each in tool_texts.TOOLS}

    assert shown == {
        "refund_order": {name: tool_texts.argument(name) for name in ("order_id", "amount", "reason")},
        "check_refund_status": {"order_id": tool_texts.argument("order_id")},
    }


def test_the_prompt_names_every_status_and_both_tools() -> None:
    named = [*OutcomeStatus, *(each.name for each in tool_texts.TOOLS)]

    assert [name for name in named if name not in tool_texts.PROMPT] == []
