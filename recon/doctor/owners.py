"""Whether owners.toml gives every case an owner, and whether its rules can ever win."""

from collections.abc import Iterator

from recon.doctor.patients import Check, Patient, Pen
from recon.model.errors import ConfigurationError
from recon.model.phrases import several
from recon.model.records.remarks import Remark, Section
from recon.rules import ownership

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
    yield from ownership.remarks(found)


CHECKS = (Check("who owns what", _rules),)
