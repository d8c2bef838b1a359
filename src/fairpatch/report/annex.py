"""Where a reader of the EU AI Act's Annex IV finds its items in a review, or that they are not."""

from fairpatch.report.identity import Identity

NOT_HERE = "not in this pack"


def annex(identity: Identity) -> list[tuple[str, str]]:
    """Every item of technical documentation, and the place that speaks of it."""
    return [
        ("1(a) Intended purpose, provider, version",
         "Sign-off: what is signed" + ("" if identity.purpose else "; purpose not given")),
        ("1(b) to (h) Interaction, hardware, forms, interface, instructions", NOT_HERE),
        ("2(a) Methods and steps of development", "Method, limits, reproduction"),
        ("2(b) Design, logic, key choices, what is optimised",
         "The scorecard; The target, before and after; Alternatives considered"),
        ("2(c) Architecture and computing resources", NOT_HERE),
        ("2(d) Data: provenance, scope, selection, labelling",
         "row counts and hashes in Sign-off; data quality in The committee's record"),
        ("2(e) Human oversight", "Sign-off; the patch can be taken back"),
        ("2(f) Pre-determined changes",
         "Alternatives considered, and Explore where the fit is at hand"),
        ("2(g) Validation, metrics, discriminatory impact, test logs",
         "Evidence of the patch; The committee's record: base model validation"),
        ("2(h) Cybersecurity", NOT_HERE),
        ("3 Capabilities, limits, accuracy for groups, foreseeable risks",
         "Evidence by group; Left out; Proxies; limits in Method"),
        ("4 Appropriateness of the metrics",
         f"The target, before and after; bounds; whether the metric is suitable is {NOT_HERE}"),
        ("5 Risk management system", f"red flags and Stability; the rest is {NOT_HERE}"),
        ("6 Changes through the lifecycle", "the patch file, its edits, and earlier reviews"),
        ("7 Harmonised standards", NOT_HERE),
        ("8 Declaration of conformity", NOT_HERE),
        ("9 Post-market monitoring", "The committee's record: monitoring plan"),
    ]  # fmt: skip
