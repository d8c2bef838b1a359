"""Figures and counts as a sentence says them."""

from fairpatch.report.figures import Count, CountRange, Figure, in_words


def count_text(people: Count) -> str:
    """A count in a sentence."""
    return in_words(people).replace("below", "fewer than").replace("not shown", "some")


def least(people: int | CountRange) -> int:
    """No fewer than this."""
    return people if isinstance(people, int) else people.at_least


def figure_text(figure: Figure, digits: int = 2) -> str:
    """A figure in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 2}f}"
    if figure.at_least is None:
        return "withheld"
    return _in_between(f"{figure.at_least + 0.0:.2f}", f"{figure.at_most:.2f}")


def percent(figure: Figure, digits: int = 0) -> str:
    """A share in a sentence."""
    if figure.value is not None:
        return f"{figure.value:.{digits if figure.low is not None else 0}%}"
    if figure.at_least is None or figure.at_most is None:
        return "a withheld share"
    return _in_between(f"{100 * figure.at_least:.0f}", f"{100 * figure.at_most:.0f}") + "%"


def estimated(share: float) -> str:
    """An estimate as exactly as it is told: in whole per cent where small counts are hidden.

    >>> estimated(0.03), estimated(0.026)
    ('about 3%', '2.6%')
    """
    return f"about {share:.0%}" if abs(share - round(share, 2)) < 1e-9 else f"{share:.1%}"


def _in_between(low: str, high: str) -> str:
    """The same in a sentence, where "from 1 to 2 to 3 to 4" cannot be read."""
    return f"about {low}" if low == high else f"between {low} and {high}"


def between_text(low: str, high: str) -> str:
    """What lies between two figures; ends that are printed alike are one.

    >>> between_text("0.82", "0.82"), between_text("0.80", "0.82")
    ('about 0.82', '0.80 to 0.82')
    """
    return f"about {low}" if low == high else f"{low} to {high}"


def ends(figure: Figure) -> tuple[float, float]:
    """What a share lies between, as far as it is told."""
    if figure.value is not None:
        return figure.value, figure.value
    if figure.at_least is None or figure.at_most is None:
        return 0.0, 1.0
    return figure.at_least, figure.at_most
