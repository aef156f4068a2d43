"""What the lint rules say of a text, for tests of them."""

from recon.rules.lint import finding


def rules_of(text: str, name: str = "refunds.py") -> list[str]:
    """The rules that a text breaks, in the order of the text."""
    return [flaw.rule.value for flaw in finding.find(text, name).flaws]
