import pytest

from recon.rules.lint import finding
from tests.rules.lint.reading import rules_of

CALL = "stripe.Refund.create(charge=charge)"
ALLOW = "recon: allow[missing-key]"


@pytest.mark.parametrize(
    "text, expected",
    [
        (f"{CALL}  # {ALLOW} a sandbox of our own", []),
        (f"{CALL}  #{ALLOW}: a sandbox of our own", []),
        (f"# {ALLOW} a sandbox of our own\n{CALL}", []),
        (f"stripe.Refund.create(\n    charge=charge,  # {ALLOW} a sandbox\n)", []),
        (f"# {ALLOW} a sandbox\nstripe.Refund.create(\n    charge=charge,\n)", []),
        (f"{CALL}  # recon: allow[misplaced-key, missing-key] a sandbox", []),
        (f"# {ALLOW} a sandbox\n\n{CALL}", ["missing-key"]),
        (f"x = 1  # {ALLOW} a sandbox\n{CALL}", ["missing-key"]),
        (f"x = '# {ALLOW} a sandbox'; {CALL}", ["missing-key"]),
        (f"# see `{ALLOW} a sandbox`\n{CALL}", ["missing-key"]),
        (f"{CALL}  # recon: allow[misplaced-key] a sandbox", ["missing-key"]),
        (f"{CALL}  # {ALLOW}", ["missing-key", "bad-allow"]),
        (f"{CALL}  # {ALLOW} -- ?", ["missing-key", "bad-allow"]),
        (f"{CALL}  # recon: allow[] a sandbox", ["missing-key", "bad-allow"]),
        (f"{CALL}  # recon: allow[no-such-rule] a sandbox", ["missing-key", "bad-allow"]),
        ("x = 1  # recon: allow[missing-key]", ["bad-allow"]),
    ],
)
def test_a_comment_allows_its_own_statement_when_it_says_why(text: str, expected: list[str]) -> None:
    assert rules_of(f"import stripe\n{text}\n") == expected


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("a.md", "<!-- recon: allow[prompt-retry] quoted -->\nIf the refund fails, try again.", []),
        ("a.md", "If the refund fails, try again. <!-- recon: allow[prompt-retry] quoted -->", []),
        ("a.j2", "{# recon: allow[prompt-retry] quoted #}\nIf the refund fails, try again.", []),
        ("a.yaml", "prompt: If the refund fails, try again. # recon: allow[prompt-retry] quoted", []),
        (
            "a.md",
            "<!-- recon: allow[prompt-retry] -->\nIf the refund fails, try again.",
            ["bad-allow", "prompt-retry"],
        ),
        ("a.md", "recon: allow[prompt-retry] quoted\nIf the refund fails, try again.", ["prompt-retry"]),
    ],
)
def test_so_does_one_in_a_prompt(name: str, text: str, expected: list[str]) -> None:
    assert rules_of(text, name) == expected


def test_the_sentences_say_what_to_write() -> None:
    flaws = finding.find("# recon: allow[missing-key]\n# recon: allow[keys] tested\n", "a.py").flaws

    assert [(each.line, each.column, each.why) for each in flaws] == [
        (1, 1, "This comment gives no reason and allows nothing; write recon: allow[missing-key] and why."),
        (
            2,
            1,
            "This comment allows a rule that there is not, 'keys': see --list-rules.",
        ),
    ]
