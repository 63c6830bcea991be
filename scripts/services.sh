#!/usr/bin/env bash
# Starts PostgreSQL and Redis for the tests, on loopback, unless something already answers there.
# Also installs PgBouncer, which the tests start themselves.
# For tests only: PostgreSQL trusts every local connection (user postgres), and neither keeps its data for long.
# PostgreSQL never runs as root.
set -euo pipefail
postgres_port="${POSTGRES_PORT:-5432}"
redis_port="${REDIS_PORT:-6379}"
data="${TMPDIR:-/tmp}/midcall-postgres-$postgres_port"

answers() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

install_package() {
    if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
        echo "Please install $1: this script can only do it as root on Debian or Ubuntu." >&2
        exit 1
    fi
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$1" >/dev/null
}

# Debian keeps initdb and pg_ctl out of the PATH.
postgres_bin() { dirname "$(command -v initdb || ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -n 1)"; }

as_postgres() {
    if [ "$(id -u)" = 0 ]; then (cd / && runuser -u postgres -- "$@"); else "$@"; fi
}

start_postgres() {
    if [ "$(postgres_bin)" = . ]; then
        # Don't create the system's cluster: it would take the port and require passwords.
        install_package postgresql-common
        sed -i 's/^#*\s*create_main_cluster.*/create_main_cluster = false/' /etc/postgresql-common/createcluster.conf
        install_package postgresql
    fi
    bin="$(postgres_bin)"
    if [ ! -e "$data/PG_VERSION" ]; then
        mkdir -m 700 "$data"
        [ "$(id -u)" != 0 ] || chown postgres: "$data"
        as_postgres "$bin/initdb" --pgdata="$data" --username=postgres --auth=trust --encoding=UTF8 >/dev/null
    fi
    as_postgres "$bin/pg_ctl" --pgdata="$data" --log="$data/log" --wait --silent \
        --options="-p $postgres_port -c listen_addresses=127.0.0.1 -c unix_socket_directories='$data'" start
}

start_redis() {
    command -v redis-server >/dev/null || install_package redis-server
    # The package may have started it automatically.
    answers "$redis_port" || redis-server --daemonize yes --bind 127.0.0.1 --port "$redis_port" \
        --save "" --appendonly no --dir "${TMPDIR:-/tmp}" >/dev/null
}

PATH="$PATH:/usr/sbin"
command -v pgbouncer >/dev/null || install_package pgbouncer
answers "$postgres_port" || start_postgres
answers "$redis_port" || start_redis
for port in "$postgres_port" "$redis_port"; do
    for _ in $(seq 50); do answers "$port" && break || sleep 0.1; done
    answers "$port" || { echo "Nothing answers on 127.0.0.1:$port." >&2; exit 1; }
done
echo "PostgreSQL answers on 127.0.0.1:$postgres_port, Redis on 127.0.0.1:$redis_port."
