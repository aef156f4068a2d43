import pytest

from recon.model import openings

HEAD = "No;Order;Payment;Amount\n"


@pytest.mark.parametrize(
    "text, line",
    [
        (f"Refunds in March\n\n{HEAD}1;B1;pi_1;49,00\n", 3),
        (f"Refunds in March;;;\n;;;\n{HEAD}1;B1;pi_1;49,00\n", 3),
        (f"Refunds, all shops\nfrom March 1\n{HEAD}1;B1;;49,00\n", 3),
        (f"Refunds, all shops\nfrom March 1\n{HEAD}", None),
        (f"{HEAD}1;B1;pi_1;49,00\n", None),
        ("No;Note\n1;a\nx;b\n", None),
        ("id,status,,\nre_1,done,usd,1\nabc,def,ghi,jkl\n", None),
        ('payload\n{"id": "a", "amount": 1, "currency": "usd"}\n', None),
        ("note\nwe said so, as you know, and more\nyes\n", None),
        ("\n\nNo;Order;Payment;Amount\n", None),
        ("", None),
    ],
)
def test_a_header_below_a_title_is_known_by_its_many_names(text: str, line: int | None) -> None:
    assert openings.header_line(text.encode()) == line


@pytest.mark.parametrize(
    "content, encoding",
    [
        ("No;Größe\n".encode("cp1252"), "WINDOWS-1252"),
        ("No;Size\n".encode("utf-16"), "UTF-16"),
        ("No;Size\n".encode("utf-16-le"), "UTF-16"),
        (b"PK\x03\x04" + b"abc\0defghijk" * 20, ""),
    ],
)
def test_another_encoding_is_named_with_the_command_that_rewrites_it(content: bytes, encoding: str) -> None:
    said = openings.rewriting(content, "my shop.csv")

    assert bool(said) is bool(encoding)
    assert not encoding or f"iconv -f {encoding} -t UTF-8 'my shop.csv' > utf8.csv" in said
