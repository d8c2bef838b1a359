"""Groups by the names that people have for them, where the data have codes."""

from collections.abc import Mapping
from dataclasses import replace

from fairpatch.choose.certificate import Certificate, Result
from fairpatch.data.rows import Rows
from fairpatch.inputs.values import Value
from fairpatch.measure.counts import Counts
from fairpatch.measure.groups import Groups

Names = Mapping[str, Mapping[str, str]]
"""By sensitive feature, then by value as text."""


def renamed_rows(rows: Rows, names: Names) -> Rows:
    """The same people with named groups."""
    return rows if not names else replace(rows, groups=_renamed(rows.s, names))


def _renamed(groups: Groups, names: Names) -> Groups:
    """The same groups under other names; refused where two would become one."""
    values = []
    for feature, old_values in zip(groups.features, groups.values, strict=True):
        new: list[Value] = [names.get(feature, {}).get(str(v), v) for v in old_values]
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
    results = tuple(_renamed_result(result, names) for result in certificate.results)
    return replace(certificate, counts=counts, results=results)


def _renamed_counts(counts: Counts, names: Names) -> Counts:
    groups = tuple(
        tuple(
            v if v is None else names.get(feature, {}).get(str(v), v)
            for feature, v in zip(counts.features, group, strict=True)
        )
        for group in counts.groups
    )
    return counts.renamed(groups)


def _renamed_result(result: Result, names: Names) -> Result:
    feature = next((f for f in names if result.feature.startswith((f"{f} in ", f"{f}, "))), "")
    mine = names.get(result.feature) or names.get(feature, {})
    between = result.estimate.between
    if between is None or not mine:
        return result
    named = (mine.get(between[0], between[0]), mine.get(between[1], between[1]))
    return replace(result, estimate=replace(result.estimate, between=named))
