#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Demonstrates the nanostore tool on the sample films.
# The argument is the path of the built tool: sh Examples/demo.sh .build/release/nanostore

set -eu

command=${1:?"usage: demo.sh path/to/nanostore"}
case $command in */*) command=$(cd "$(dirname "$command")" && pwd)/$(basename "$command") ;; esac
films=$(cd "$(dirname "$0")" && pwd)/sample/films.ndjson
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp "$films" "$folder"
cd "$folder"

# Prints a command line and runs it.
show() {
  printf '\n$ nanostore'
  for word in "$@"; do
    case $word in
      *[!A-Za-z0-9_.,:=/-]*) printf ' "%s"' "$word" ;;
      *) printf ' %s' "$word" ;;
    esac
  done
  printf '\n'
  "$command" "$@"
}

show import library.db films films.ndjson --key title
show find library.db films "[genres] = 'Science Fiction' AND [year] > 1970" \
  --sort rating:desc --limit 5 --fields title,year,rating,director.name --table
show aggregate library.db films --group genres --count --average rating \
  --sort count:desc --limit 5 --table
show explain library.db films "[director.name] = 'Akira Kurosawa'"
show index library.db films director.name year:desc
show explain library.db films "[director.name] = 'Akira Kurosawa'"
show find library.db films "[director.name] = ?" --arg "Akira Kurosawa" \
  --sort year:desc --fields title,year --json
