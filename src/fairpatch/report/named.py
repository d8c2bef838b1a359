"""Groups by the names that people have for them, where the data have codes."""

from collections.abc import Mapping
from dataclasses import replace

from fairpatch.choose.certificate import Certificate, Verdict
from fairpatch.data.rows import Rows
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups
from fairpatch.measure.values import Value

Names = Mapping[str, Mapping[str, str]]
"""By sensitive feature, then by value as text."""


def renamed_rows(rows: Rows, names: Names) -> Rows:
    """The same people with named groups."""
    return rows if not names else replace(rows, groups=_renamed(rows.s, names))


def _renamed(groups: Groups, names: Names) -> Groups:
    """The same groups under other names; refused where two would become one."""
    values = []
    for feature, own in zip(groups.features, groups.values, strict=True):
        new: list[Value] = [names.get(feature, {}).get(str(v), v) for v in own]
        if len(set(map(str, new))) < len(new):
            raise ValueError(f"group_names gives two groups of {feature!r} the same name")
        values.append(tuple(new))
    unknown = sorted(set(names) - set(groups.features))
    if unknown:
        known = ", ".join(map(repr, groups.features))
        raise ValueError(f"group_names is for {known}; got {unknown[0]!r}")
    return Groups(groups.features, tuple(values), groups.codes)


def renamed_certificate(certificate: Certificate | None, names: Names) -> Certificate | None:
    """The same certificate with named groups."""
    if certificate is None or not names:
        return certificate
    counts = None if certificate.counts is None else _renamed_counts(certificate.counts, names)
    verdicts = tuple(_renamed_verdict(v, names) for v in certificate.verdicts)
    return replace(certificate, counts=counts, verdicts=verdicts)


def _renamed_counts(counts: Counts, names: Names) -> Counts:
    groups = tuple(
        tuple(
            v if v is None else names.get(feature, {}).get(str(v), v)
            for feature, v in zip(counts.features, group, strict=True)
        )
        for group in counts.groups
    )
    order = sorted(range(len(groups)), key=lambda i: [(v is None, str(v)) for v in groups[i]])
    named = tuple(groups[i] for i in order)
    own = counts.n[order], counts.weight[order], counts.weight_sq[order]
    return Counts(counts.features, named, *own)


def _renamed_verdict(verdict: Verdict, names: Names) -> Verdict:
    own, between = names.get(verdict.feature, {}), verdict.estimate.between
    if between is None or not own:
        return verdict
    named = (own.get(between[0], between[0]), own.get(between[1], between[1]))
    return replace(verdict, estimate=replace(verdict.estimate, between=named))
