#!/usr/bin/env bash
# Learn, review, sign and deploy. Stops at the first thing that is wrong.
set -euo pipefail
cd "$(dirname "$0")"
python people.py last_year.parquet 20000 1

# Fails where the target is not certified, or where the review says Stop.
fairpatch fit -c fairpatch.yaml --out run --require-certificate --fail-on stop

# Who vouches for it. The keys are for this example.
if [ ! -e private.pem ]; then
  openssl ecparam -name prime256v1 -genkey -noout -out private.pem
  openssl ec -in private.pem -pubout -out public.pem 2>/dev/null
fi
fairpatch sign run --private-key private.pem --signer "A. Validator, model risk"
fairpatch verify run --public-key public.pem
fairpatch ledger life --fitted run
fairpatch ledger life --applied run --since 2026-12-01

# The patch as models and tests of the warehouse's own project.
rm -rf pack
fairpatch deploy run pack --to dbt --dialect duckdb --table people --key id
if command -v dbt >/dev/null; then
  cp -r pack/. dbt/
  (cd dbt && PEOPLE="$PWD/../last_year.parquet" dbt build --profiles-dir .)
else
  echo "dbt is not installed: pack/ is written, and not built"
fi
