#!/usr/bin/env bash
# A patch that keeps the number of invitations, and a month of exactly 300.
set -euo pipefail
cd "$(dirname "$0")"
python model.py
fairpatch audit -c fairpatch.yaml
fairpatch fit -c fairpatch.yaml --out run --force
fairpatch apply run month.parquet invited.csv --approvals 300 --key id --reasons --force
