#!/usr/bin/env bash
# Chromium for the tests that open pages, where none is installed.
set -euo pipefail

found() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

if ! found >/dev/null; then
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "Please install Chromium: only root on Debian or Ubuntu can do it from here." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi
echo "Browser: $(found)"
