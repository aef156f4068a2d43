"""How a refusal of the provider, or its silence, is written down, and what of that a model is told.

What is written down names the request and our key, for the log and the books; a model needs neither, and is
told the same of the same refusal. Never decides what a refusal means: rules/answers.py does.
"""

import re

_REFUSED = re.compile(
    r".*? was refused with (?P<status>\d+)(?: (?P<code>\w+))?(?:, request \S+)?: (?P<said>.*)"
)
_BROKEN = re.compile(r".*? broke off: (?P<why>.*)")
_ASIDE = re.compile(r" \([^()]*\)")  # What explains it to an engineer.
_REQUEST = re.compile(r"(?:,? ?request)? ?\breq_\w+")
# Keys of the provider, what signs webhooks, tokens of Slack; what follows the name of a scheme; and whoever
# an address is opened as.
_SECRET = re.compile(
    r"\b(?:[sr]k|whsec)_\w+|\bxox[a-z]-[\w-]+|\bxapp-[\w-]+"
    r"|(?<=\bBearer )\S+|(?<=\bBasic )\S+|(?<=://)[^/\s]+(?=@)"
)
_LONGEST = 120  # Of what somebody else says; a model that reads more does not obey better.
_USUAL = "the provider refused it"
# By the provider's code. Source: https://docs.stripe.com/error-codes
_BY_CODE = {
    "balance_insufficient": "our balance at the provider is too low",
    "charge_already_refunded": "nothing is left of the payment",
    "charge_disputed": "the customer disputes the payment with their bank",
    "insufficient_funds": "our balance at the provider is too low",
    "refund_disputed_payment": "the customer disputes the payment with their bank",
    "resource_missing": "the provider knows no such payment",
}
_BY_STATUS = {
    401: "this tool has no valid key of the provider",
    403: "this tool may not do that at the provider",
}
_TOO_MUCH = "greater than unrefunded amount"  # The provider has no code for it.


def masked(text: str) -> str:
    """Return the text with stars for what looks like a secret, as somebody else's refusal may quote one."""
    return _SECRET.sub("***", text)


def refused(what: str, *, status: int, code: str | None, request: str | None, said: str) -> str:
    """Return how a refusal of what was asked is written down."""
    named = f" {code}" if code else ""
    return f"{what} was refused with {status}{named}{_request(request)}: {said}"


def answered(what: str, *, status: int, request: str | None) -> str:
    """Return how it is written down that nothing but a number came."""
    return f"{what} broke off: the provider answered {status}{_request(request)}."


def spoken(written: str) -> str:
    """Return what a model is told of what is written down: one line, without keys and requests' ids."""
    text = masked(" ".join(written.split()))
    if refusal := _REFUSED.fullmatch(text):
        if _TOO_MUCH in refusal["said"]:
            return "it is more than is left of the payment"
        return _BY_CODE.get(refusal["code"] or "") or _BY_STATUS.get(int(refusal["status"]), _USUAL)
    if broken := _BROKEN.fullmatch(text):
        text = _ASIDE.sub("", broken["why"])
    return _REQUEST.sub("", text)[:_LONGEST]


def _request(request: str | None) -> str:
    return f", request {request}" if request else ""
