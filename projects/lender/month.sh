#!/usr/bin/env bash
# One month: decide, then judge what was decided. Exit code 4 where the target is shown not to hold.
set -euo pipefail
cd "$(dirname "$0")"
month=${1:?a month, as 2026-12}
python people.py "month-$month.parquet" 8000 2

fairpatch apply run "month-$month.parquet" "decided-$month.parquet" --reasons --force
fairpatch monitor run "decided-$month.parquet" --period "$month" --life life
fairpatch ledger life --verify public.pem || echo "some entries are not signed: months are noted by the machine"
