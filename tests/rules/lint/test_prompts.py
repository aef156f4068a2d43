"""Where in a file a model reads, and where a person does; the sentences themselves are in the corpus."""

import pytest

from recon.rules.lint import finding
from tests.rules.lint.reading import rules_of

ORDER = "If the refund fails, try again."
FOUND = ["prompt-retry"]


@pytest.mark.parametrize(
    "name, text, place",
    [
        ("support.md", f"You are a bot.\n\n- {ORDER}\n", (3, 24)),
        ("support.md", "If the refund fails,\nplease\n  try\n  again.\n", (3, 3)),
        ("system.txt", ORDER, (1, 22)),
        ("system.j2", "{% if refunds %}" + ORDER + "{% endif %}", (1, 38)),
        ("agent.yaml", f"system: |\n  You refund.\n  {ORDER}\nname: x\n", (3, 24)),
        ("agent.yml", f"- role: system\n  content: >\n    Be kind.\n    {ORDER}\n", (4, 26)),
        (
            "agent.yaml",
            "tools:\n  - name: issue_refund\n    description: If it fails, call it again.\n",
            (3, 31),
        ),
        ("tools.json", '{"name": "issue_refund",\n "description": "If it fails, call it again."}', (2, 31)),
        ("tools.json", '{"name": "issue_refund", "description": "If it fails, call it again."}', (1, 55)),
        ("chat.json", '{"messages": [{"role": "system", "content": "' + ORDER + '"}]}', (1, 67)),
        (
            "chat.json",
            '{"content": "Rules:\\n- refund orders\\n- if the refund fails, try again\\n"}',
            (1, 62),
        ),
        ("chat.json", '{"content": "If the refund\\nfails, try again."}', (1, 36)),
        ("agent.toml", f'[agent]\nprompt = """\nBe kind.\n{ORDER}\n"""\n', (4, 22)),
    ],
)
def test_a_model_reads_it(name: str, text: str, place: tuple[int, int]) -> None:
    assert [(each.line, each.column) for each in finding.find(text, name).flaws] == [place]


@pytest.mark.parametrize(
    "name, text",
    [
        ("readme.md", ORDER),
        ("changelog.txt", ORDER),
        ("support.md", f"```python\nx = '{ORDER}'\n```\n"),
        ("support.md", f"<!-- {ORDER} -->\n"),
        ("system.j2", "{# " + ORDER + " #}"),
        ("en.json", '{"payment_failed": "Payment failed. Please try again."}'),
        ("en.json", '{"errors": {"refund": "If the refund fails, try again."}}'),
        ("agent.yaml", f"# {ORDER}\nsystem: Be kind.\n"),
        ("agent.yaml", f"label: {ORDER}\n"),
        ("agent.toml", f'title = "{ORDER}"\n'),
    ],
)
def test_a_person_reads_it(name: str, text: str) -> None:
    assert rules_of(text, name) == []


def test_a_readme_that_speaks_to_a_model_is_one_of_its_prompts() -> None:
    assert rules_of(f"You are the support agent. {ORDER}", "readme.md") == FOUND


@pytest.mark.parametrize(
    "bad, good",
    [
        ("SYSTEM_PROMPT = {!r}", "HELP = {!r}"),
        ("SYSTEM_PROMPT = dedent({!r})", "HELP = dedent({!r})"),
        ("SYSTEM_PROMPT = ('Be kind. ' + {!r})", "HELP = ('Be kind. ' + {!r})"),
        ("agent = Agent(instructions={!r})", "agent = Agent(greeting={!r})"),
        (
            "tools = [{{'name': 'refund', 'description': {!r}}}]",
            "tools = [{{'name': 'refund', 'label': {!r}}}]",
        ),
        ("say({{'role': 'system', 'content': {!r}}})", "messages.error(request, {!r})"),
        ("@tool\ndef refund(order):\n    {!r}", "@route\ndef page(order):\n    {!r}"),
        ("@mcp.tool()\ndef refund(order):\n    {!r}", "def page(order):\n    {!r}"),
        ("text = 'You are a support agent of a shop. ' {!r}", "raise ValueError({!r})"),
        (
            "class Agent:\n    'You are a support agent. ' {!r}",
            "Wrapper = object\n'You are a support agent. ' {!r}",
        ),
    ],
)
def test_strings_of_python_that_a_model_reads_and_a_person(bad: str, good: str) -> None:
    assert (rules_of(bad.format(ORDER)), rules_of(good.format(ORDER))) == (FOUND, [])


def test_a_description_without_a_name_in_it_is_of_the_tool_beside_it() -> None:
    text = "tool = Tool(name={!r}, description='If it fails, call it again.')"

    assert rules_of(text.format("issue_refund")) == FOUND
    assert rules_of(text.format("get_order")) == []


def test_the_place_is_the_line_of_the_words_in_a_long_text() -> None:
    text = f"PROMPT = f'''\nYou help {{name}}.\n{ORDER}\n'''\n"
    (flaw,) = finding.find(text, "agent.py").flaws

    assert (flaw.line, flaw.column) == (3, 22)
    assert flaw.why == (
        "'try again' tells the model to repeat what may have happened already; write instead: when it fails, "
        "do not call it again, look up what became of it (check_refund_status) and say so."
    )
