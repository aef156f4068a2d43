"""What can be clicked in a message: a verb, a case and the version that the person looked at.

Never carries an amount, a name or a right: whoever clicks is authorised when the click arrives, and the case
is read anew.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from recon.model.records.cases import Case
from recon.model.records.words import CaseId

MENU = "recon_case"  # The action id of every case's menu, as Slack gives it back.
_VALUE = re.compile(r"(?P<verb>[a-z]+)/(?P<case>C-[A-Z2-7]{10})/(?P<version>[1-9][0-9]{0,17})")


class Verb(StrEnum):
    """What a click asks for."""

    ACKNOWLEDGE = "acknowledge"  # Take the case on.
    TAKE = "take"  # Become its owner, for whoever clicked.
    SNOOZE = "snooze"  # Opens a dialog: until when, and why.
    RESOLVE = "resolve"  # Opens a dialog: how, and why.
    OPEN = "open"  # A link to the dashboard; nothing is done.


@dataclass(frozen=True, slots=True)
class Button:
    """One thing that can be clicked. version: of the case as the message shows it."""

    verb: Verb
    case_id: CaseId
    version: int

    @classmethod
    def of(cls, verb: Verb, case: Case) -> Self:
        """Return the button of a case as it is."""
        return cls(verb, case.id, case.version)

    @classmethod
    def read(cls, value: str) -> Self | None:
        """Return the button that a click's value names; None where it names none."""
        found = _VALUE.fullmatch(value)
        if found is None or found["verb"] not in set(Verb):
            return None
        return cls(Verb(found["verb"]), CaseId(found["case"]), int(found["version"]))

    @property
    def value(self) -> str:
        """Return what Slack keeps and gives back."""
        return f"{self.verb}/{self.case_id}/{self.version}"
