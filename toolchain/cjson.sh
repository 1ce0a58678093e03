#!/bin/sh
# The source of cJSON as the distribution has it, for the static programs of `make release`: its package only has the shared library. Usage:
# cjson.sh FOLDER, which gets cJSON.c, cjson/cJSON.h and LICENSE.
set -eu

source=$(mktemp -d "${TMPDIR:-/tmp}/cjson.XXXXXX")
trap 'rm -rf "$source"' EXIT
"$(dirname "$0")/fetch_source.sh" cjson "$source/cjson"
mkdir -p "$1/cjson"
cp "$source/cjson/cJSON.h" "$1/cjson"
cp "$source/cjson/LICENSE" "$source/cjson/cJSON.c" "$1"
