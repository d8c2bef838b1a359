"""python -m fairpatch.bench table1 | stack | ten | target | certificate [--json FILE]."""

import argparse
import json
import sys
from pathlib import Path

from fairpatch.bench import certificate, stack, table1, target, ten


def main(argv: list[str] | None = None) -> int:
    """Run one experiment, print it, and write it as JSON where asked."""
    parser = argparse.ArgumentParser(prog="python -m fairpatch.bench", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("table1", help=table1.__doc__)
    one.add_argument("--dataset", choices=["law_school", "compas"], required=True)
    one.add_argument(
        "--fairness",
        choices=["demographic_parity", "equalized_odds"],
        default="demographic_parity",
    )
    one.add_argument("--direction", choices=["both", "promote_only", "demote_only"], default="both")
    one.add_argument("--seeds", type=int, default=4, help="270 models each")
    two = verbs.add_parser("stack", help=stack.__doc__)
    two.add_argument("--dataset", choices=["law_school", "compas"], default="law_school")
    two.add_argument("--models", type=int, default=100)
    verbs.add_parser("ten", help=ten.__doc__)
    ask = verbs.add_parser("target", help=target.__doc__)
    ask.add_argument("--seeds", type=int, default=20)
    ask.add_argument("--p-rule", type=float, default=0.8)
    ask.add_argument("--direction", choices=["both", "promote_only", "demote_only"], default="both")
    ask.add_argument("--datasets", nargs="+", default=target.DATASETS)
    many = verbs.add_parser("certificate", help=certificate.__doc__)
    many.add_argument("--fits", type=int, default=500)
    many.add_argument("--rows", type=int, default=3_000)
    for verb in verbs.choices.values():
        verb.add_argument("--json", type=Path, help="write the result here")
    options = vars(parser.parse_args(argv))
    experiment = {
        "certificate": certificate,
        "stack": stack,
        "table1": table1,
        "target": target,
        "ten": ten,
    }[options.pop("verb")]
    path = options.pop("json")
    result = experiment.run(**options)
    sys.stdout.write(experiment.show(result) + "\n")
    if path:
        path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
