"""The experiments: the paper, beyond it, and what things cost. One verb each."""

import argparse
import json
import sys
from pathlib import Path

from benchmarks import (
    anchors,
    beyond,
    cards,
    certificate,
    conditions,
    continuity,
    cost,
    curve,
    delivery,
    load,
    margin,
    monitor,
    online,
    outcomes,
    persons,
    places,
    printed,
    probable,
    refits,
    reproduction,
    scale,
    signing,
    speed,
    stack,
    tables,
    target,
    ten,
    told,
    watch,
)
from benchmarks.problems import PROBLEMS, SEVERAL
from benchmarks.watched import PATHS

EXPERIMENTS = {
    "paper": reproduction,
    "anchors": anchors,
    "beyond": beyond,
    "cards": cards,
    "conditions": conditions,
    "continuity": continuity,
    "cost": cost,
    "curve": curve,
    "delivery": delivery,
    "load": load,
    "margin": margin,
    "monitor": monitor,
    "online": online,
    "outcomes": outcomes,
    "persons": persons,
    "places": places,
    "printed": printed,
    "probable": probable,
    "refits": refits,
    "scale": scale,
    "signing": signing,
    "speed": speed,
    "stack": stack,
    "ten": ten,
    "tables": tables,
    "target": target,
    "told": told,
    "certificate": certificate,
    "watch": watch,
}


def main(argv: list[str] | None = None) -> int:
    """Run one experiment, print it, and write it as JSON where asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    choices = parser.add_subparsers(dest="verb", required=True)
    verbs = {
        name: choices.add_parser(name, help=(module.__doc__ or "").splitlines()[0])
        for name, module in EXPERIMENTS.items()
    }
    _options(verbs)
    for verb in verbs.values():
        verb.add_argument("--json", type=Path, help="write the result here")
    given = {k: v for k, v in vars(parser.parse_args(argv)).items() if v is not None}
    experiment = EXPERIMENTS[given.pop("verb")]
    path = given.pop("json", None)
    result = experiment.run(**given)
    if path:  # first: what was measured outlives a mistake in showing it
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write(experiment.show(result) + "\n")
    return int(experiment is watch and bool(watch.slower(result)))


def _options(verbs: dict[str, argparse.ArgumentParser]) -> None:
    """What each experiment can be asked for."""
    for name in ("paper", "beyond", "certificate"):
        verbs[name].add_argument("--out", type=Path, help="folder of the journal and the results")
        verbs[name].add_argument("--jobs", type=int, help="processes")
    verbs["paper"].add_argument("--quick", action="store_true", help="a small one, for CI")
    verbs["beyond"].add_argument("--seeds", type=int)
    verbs["beyond"].add_argument("--first", type=int, help="the first of the seeds")
    verbs["beyond"].add_argument("--problems", nargs="+", choices=[*PROBLEMS, *SEVERAL])
    verbs["beyond"].add_argument("--bases", nargs="+", choices=["logistic", "boosted"])
    verbs["beyond"].add_argument("--fairness", choices=list(beyond.FAIRNESS))
    verbs["beyond"].add_argument("--methods", nargs="+")
    verbs["anchors"].add_argument("--splits", type=int)
    verbs["anchors"].add_argument("--pairs", nargs="+", choices=list(anchors.PAIRS))
    verbs["anchors"].add_argument("--datasets", nargs="+", choices=list(anchors.DATASETS))
    verbs["delivery"].add_argument("--safety-margin", type=float)
    verbs["outcomes"].add_argument("--sources", nargs="+", choices=list(outcomes.SOURCES))
    verbs["monitor"].add_argument("--streams", type=int)
    verbs["online"].add_argument("--calls", type=int)
    whole_numbers = {
        "delivery": ["--seeds"], "load": ["--rate", "--seconds"], "margin": ["--fits"],
        "outcomes": ["--seeds", "--draws", "--fits", "--streams"],
        "persons": ["--tables", "--streams"], "printed": ["--splits", "--steps"],
        "told": ["--draws"],
    }  # fmt: skip
    for verb, names in whole_numbers.items():
        for name in names:
            verbs[verb].add_argument(name, type=int)
    verbs["printed"].add_argument("--problems", nargs="+", choices=list(printed.PROBLEMS))
    verbs["printed"].add_argument("--variants", nargs="+", choices=list(printed.every_variant()))
    verbs["places"].add_argument("--splits", type=int)
    verbs["places"].add_argument("--problems", nargs="+", choices=list(PROBLEMS))
    for verb in ("places", "continuity"):
        verbs[verb].add_argument("--base", choices=["logistic", "boosted"])
    for name in ("--draws", "--rows"):
        verbs["probable"].add_argument(name, type=int)
    verbs["conditions"].add_argument("--splits", type=int)
    verbs["conditions"].add_argument("--problems", nargs="+", choices=list(conditions.STRATUM))
    verbs["refits"].add_argument("--refits", type=int)
    verbs["continuity"].add_argument("--retrainings", type=int)
    verbs["cost"].add_argument("--rows", type=int)
    verbs["curve"].add_argument("--seeds", type=int)
    verbs["scale"].add_argument("--rows", type=int)
    verbs["scale"].add_argument("--out", type=Path, help="folder of the generated tables")
    for name in ("--seeds", "--refits"):
        verbs["signing"].add_argument(name, type=int)
    verbs["signing"].add_argument("--problems", nargs="+", choices=list(PROBLEMS))
    verbs["signing"].add_argument("--bases", nargs="+", choices=["logistic", "boosted"])
    verbs["signing"].add_argument("--variants", nargs="+", choices=list(signing.VARIANTS))
    verbs["speed"].add_argument("--datasets", nargs="+")
    verbs["stack"].add_argument("--dataset", choices=["law_school", "compas"])
    verbs["stack"].add_argument("--models", type=int)
    verbs["target"].add_argument("--seeds", type=int)
    verbs["target"].add_argument("--p-rule", type=float)
    verbs["target"].add_argument("--direction", choices=["both", "promote_only", "demote_only"])
    verbs["target"].add_argument("--datasets", nargs="+")
    for name in ("--fits", "--rows"):
        verbs["certificate"].add_argument(name, type=int)
    verbs["watch"].add_argument("--against", help="the commit before")
    verbs["watch"].add_argument("--only", nargs="+", choices=PATHS)
    settings = list(certificate.SETTINGS)
    verbs["certificate"].add_argument("--settings", nargs="+", choices=settings)
    verbs["certificate"].add_argument("--pick", action="store_true", help="where it fails, another")


if __name__ == "__main__":
    sys.exit(main())
