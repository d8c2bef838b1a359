"""Which decision is good for a person: never guessed, and asked for where words suggest a harm.

A model of default that is taken for one of repayment would be patched, and certified, the wrong way
round, with every figure in order.
"""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from fairpatch._hints import hint

if TYPE_CHECKING:
    from fairpatch.decision import Decision

HARMS = (
    "arrears", "arrest", "attrition", "ausfall", "ausgefallen", "bankrupt", "betrug", "charged_off",
    "chargeoff", "churn", "convict", "default", "delinquen", "denied", "dropout", "fraud",
    "impago", "insolven", "kuendig", "kündig", "mahn", "recid", "reject", "reoffend", "rueckfall",
    "rückfall", "verzug", "writeoff", "defaut", "défaut",
)  # fmt: skip
"""Beginnings of words that name something bad for a person, as labels have them."""
WHOLE = ("bad", "late", "schlecht", "lapse")
"""Words that do so by themselves only."""
NOT = ("no", "not", "non", "kein", "keine", "nicht", "ohne", "never", "un")


def harm_in(texts: Iterable[Any]) -> str | None:
    """The first text that names a harm, unless it denies it.

    >>> harm_in(["Ausfall 12M"]), harm_in(["no_default"]), harm_in(["repaid", 1])
    ('Ausfall 12M', None, None)
    """
    for text in texts:
        words = re.findall(r"[^\W\d_]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", str(text)).lower())
        if any(word in NOT for word in words):
            continue
        if any(word in WHOLE or word.startswith(HARMS) for word in words):
            return str(text)
    return None


def check_direction(decision: "Decision", label: Any, positive: Any) -> None:
    """Refuse to go on where nobody said which decision is good, and the words suggest a harm.

    ``label`` is the name of the labels' column, where it has one.
    """
    if "favourable" in decision.model_fields_set:
        return
    harm = harm_in([label if isinstance(label, str) else "", decision.positive_words, positive])
    if harm is not None:
        raise ValueError(
            f"{harm!r} sounds like a harm, and nobody said which decision is good for a person: "
            + hint("Decision(favourable=0)", "--favourable 0")
            + " where a high score speaks against them, "
            + hint("Decision(favourable=1)", "--favourable 1")
            + " where it speaks for them"
        )
