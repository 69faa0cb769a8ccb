#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Opens the sample films in the inspector.
# The argument is the path of the built tool, with nanostore-inspector beside it: sh Examples/inspect.sh .build/release/nanostore

set -eu

command=${1:?"usage: inspect.sh path/to/nanostore"}
films=$(cd "$(dirname "$0")" && pwd)/sample/films.ndjson
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Control-C stops the inspector; without a trap, a shell that it interrupts too would leave the folder behind.
trap exit INT TERM HUP
"$command" import "$folder/library.db" films "$films" --key title
"$command" index "$folder/library.db" films director.name year:desc
"$command" index text "$folder/library.db" films title director.name
# References, for the graph.
"$command" put "$folder/library.db" lists Favorites '{"films": ["Casablanca", "Metropolis", "Rashomon"]}' > /dev/null
"$command" put "$folder/library.db" lists "Black and white" '{"films": ["Metropolis", "M", "Casablanca"]}' > /dev/null
"$command" inspect "$folder/library.db" --open
