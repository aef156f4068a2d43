"""Whether owners.toml gives every case an owner, and whether its rules can ever win."""

from collections.abc import Iterator

from recon.doctor.patients import Check, Patient, Pen
from recon.model.errors import ConfigurationError
from recon.model.phrases import several
from recon.model.records.remarks import Remark, Section
from recon.rules import ownership
from recon.rules.ownership import Ownership

_OWNERS = Pen(Section.OWNERS)


def _rules(patient: Patient) -> Iterator[Remark]:
    if patient.settings is None:
        return
    try:
        found = ownership.parse(patient.settings.owners)
    except ConfigurationError as error:
        yield _OWNERS.failure(str(error), "Put owners.toml right: no run begins before that.")
        return
    nobody = sum(not rule.owner.target for rule in found.rules)
    left = f", {nobody} of them for cases that are nobody's on purpose" if nobody else ""
    levels = several(len(found.severities), "severity", "severities")
    yield _OWNERS.ok(
        f"{several(len(found.rules), 'rule')}{left}, and {levels}; the first catches everything."
    )
    yield from _idle(found)


def _idle(found: Ownership) -> Iterator[Remark]:
    names = [f"the rule {rule.owner.rule!r}" for rule in found.rules]
    conditions = [rule.condition for rule in found.rules]
    levels = [f"the severity {rule.level} (number {at})" for at, rule in enumerate(found.severities, start=1)]
    for these, named in ((conditions, names), ([rule.condition for rule in found.severities], levels)):
        for earlier, later in ownership.beaten(these):
            yield _OWNERS.warning(
                f"In owners.toml {named[earlier]} never wins: {named[later]} comes later and fits the same.",
                "The last that fits wins: put the wider one first.",
            )


CHECKS = (Check("who owns what", _rules),)
