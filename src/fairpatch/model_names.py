"""Which column of a table a model means: libraries rewrite names in their own ways.

LightGBM turns blanks into underscores, XGBoost takes no brackets, others no accents or upper case.
A name is matched to a column where, written plainly, exactly one is the same and no other name
wants it; anything else is for a person to say.
"""

import re
import unicodedata
from collections.abc import Sequence


def columns_for(wanted: Sequence[str], have: Sequence[str]) -> dict[str, str]:
    """For each of a model's names the table's column; a name that has none, or two, is not there.

    >>> columns_for(["Miete_monatl.", "age"], ["Miete monatl.", "age", "Age 2"])
    {'Miete_monatl.': 'Miete monatl.', 'age': 'age'}
    >>> columns_for(["a_b"], ["a.b", "a-b"])
    {}
    """
    found = {name: name for name in wanted if name in have}
    left = [name for name in have if name not in found]
    for written in (_blanks, _signs, _plainly):
        open_ones = [name for name in wanted if name not in found]
        here = {name: [c for c in left if written(c) == written(name)] for name in open_ones}
        for name, columns in here.items():
            rivals = [other for other in open_ones if written(other) == written(name)]
            if len(columns) == 1 and len(rivals) == 1:
                found[name] = columns[0]
        left = [name for name in left if name not in found.values()]
    return {name: found[name] for name in wanted if name in found}


def _blanks(name: str) -> str:
    return re.sub(r"\s", "_", name)


def _signs(name: str) -> str:
    return re.sub(r"\W", "_", name)


def _plainly(name: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return re.sub(r"[\W_]+", "_", bare).strip("_").lower()
