#!/usr/bin/env bash
# Installs the Python clients that `make everywhere` runs, each file of peers/requirements/ in an environment of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

for pins in peers/requirements/*.txt; do
  environment=peers/.venvs/$(basename "$pins" .txt)
  .venv/bin/python -m venv "$environment"
  "$environment/bin/python" -m pip install --quiet --disable-pip-version-check -r "$pins"
done
