"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

from fairpatch._tools.smallest_count import MIN_PEOPLE

SOURCES = "CSV, Parquet, folder, glob, base.duckdb::table, or URL::table"
ConfigFile = Annotated[Path | None, typer.Option("--config", "-c", help="YAML file; see: init")]
Data = Annotated[str | None, typer.Option(help=SOURCES)]
Label = Annotated[str | None, typer.Option(help="column of the outcome, of two labels")]
Outcomes = Annotated[
    str | None, typer.Option(help="whose outcome is known: everybody, approved or sample")
]
Pilot = Annotated[
    float | None,
    typer.Option(help="act for this share of people only, drawn by a hash of their key"),
]
Positive = Annotated[str | None, typer.Option(help="label that the score is the probability of")]
Favourable = Annotated[
    int | None, typer.Option(help="the decision that is good for a person, 1 or 0")
]
Weight = Annotated[str | None, typer.Option(help="column of what each row weighs")]
Categories = Annotated[
    list[str] | None,
    typer.Option("--category", help="column of numbers that are codes; -X: no code"),
]
IfUnlike = Annotated[
    str, typer.Option(help="where scores look like another model's: refuse, warn or ignore")
]
Score = Annotated[str | None, typer.Option(help="column of the base model's probability")]
Model = Annotated[
    str | None,
    typer.Option(help="base model: .skops, .onnx, LightGBM .txt, XGBoost .json, or an MLflow URI"),
]
Sensitive = Annotated[
    list[str] | None, typer.Option(help="sensitive column; may be repeated; -X: not X")
]
SensitiveTable = Annotated[
    str | None, typer.Option(help="a table of their own for the sensitive columns, see --join")
]
Join = Annotated[str | None, typer.Option(help="column that two tables share; else the key")]
Exclude = Annotated[
    list[str] | None, typer.Option(help="column the patch must not read; -X: it may")
]
Ignore = Annotated[
    list[str] | None, typer.Option(help="column that is no feature, such as a key; -X: not X")
]
Key = Annotated[str | None, typer.Option(help="whole-number column: fit inside the engine")]
Threshold = Annotated[
    str | None, typer.Option(help="decision 1 is a score above this; or a column that holds it")
]
Json = Annotated[bool, typer.Option("--json", help="print JSON for machines")]
Reasons = Annotated[bool, typer.Option("--reasons", help="also why each decision changes")]
TrustModel = Annotated[
    bool | None,
    typer.Option("--trust-model", help="read a pickle or MLflow model, which can run any code"),
]
PublicKey = Annotated[
    Path | None, typer.Option("--public-key", help="of who signed the run, to verify it with")
]
ShowSmallCounts = Annotated[
    bool,
    typer.Option(
        "--show-small-counts",
        help=f"suppress nothing: only for readers who may see counts below {MIN_PEOPLE}",
    ),
]
AdverseImpact = Annotated[
    bool,
    typer.Option(
        "--adverse-impact",
        help="the tables that US lenders and employers file: impact ratios, tests, shortfall",
    ),
]
Reference = Annotated[
    str | None, typer.Option(help="group that others are compared with; else the highest rate")
]
Targets = Annotated[
    list[str] | None, typer.Option("--target", help="what must hold, NAME=VALUE; may be repeated")
]
PRule = Annotated[float | None, typer.Option("--p-rule", help="P-Rule to reach")]
Life = Annotated[
    Path | None,
    typer.Option("--life", help="folder of ledger and history; 'life' beside the run by default"),
]
Junit = Annotated[Path | None, typer.Option(help="write the verdicts as JUnit XML")]
Metrics = Annotated[
    Path | None, typer.Option(help="write them for Prometheus' textfile collector, FILE.prom")
]
JsonLines = Annotated[Path | None, typer.Option("--jsonl", help="append them as JSON Lines")]
GitHub = Annotated[bool, typer.Option("--github", help="print them as annotations, on stderr")]
FailOn = Annotated[
    str | None,
    typer.Option(help="exit with 7 where the review finds this, or worse: stop or look"),
]
SigningKey = Annotated[
    Path | None, typer.Option("--private-key", help="key (EC, PEM) to sign the ledger's entry with")
]
Signer = Annotated[str | None, typer.Option("--signer", help="who signs, and as what")]
PatchFile = Annotated[Path, typer.Argument(help="a patch file, or a run's folder")]
