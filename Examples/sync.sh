#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Two devices that synchronize through a server.
# The argument is the folder of the built programs: sh Examples/sync.sh .build/debug

set -eu

programs=${1:?"usage: sync.sh path/to/programs"}
folder=$(mktemp -d)
"$programs/nanostore-server" "$folder/server.db" --port 5985 --manage-databases > "$folder/log" 2>&1 &
server=$!
trap 'kill $server; rm -rf "$folder"' EXIT
trap exit INT TERM HUP
# The server is ready when its port accepts connections.
attempts=0
until curl -sf http://127.0.0.1:5985/_up > /dev/null; do
  attempts=$((attempts + 1))
  [ $attempts -lt 50 ] || { cat "$folder/log"; exit 1; }
  sleep 0.2
done
"$programs/example-sync" http://127.0.0.1:5985
