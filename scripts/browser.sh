#!/usr/bin/env bash
# Installs Chromium and tmux, which the tests use for pages and terminals.
set -euo pipefail

found() { command -v chromium || command -v chromium-browser || command -v google-chrome; }

install_package() {
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "Please install $1: this script can only do it as root on Debian or Ubuntu." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}

found >/dev/null || install_package chromium
command -v tmux >/dev/null || install_package tmux
echo "Browser: $(found), terminal: $(command -v tmux)"
