#!/bin/sh
# Gets the distribution's source of cJSON for the static programs of `make release`, because its package has only the shared library. Usage:
# cjson.sh FOLDER, which gets cJSON.c, cjson/cJSON.h and LICENSE.
set -eu

source=$(mktemp -d "${TMPDIR:-/tmp}/cjson.XXXXXX")
trap 'rm -rf "$source"' EXIT
"$(dirname "$0")/fetch_source.sh" cjson "$source/cjson"
mkdir -p "$1/cjson"
cp "$source/cjson/cJSON.h" "$1/cjson"
cp "$source/cjson/LICENSE" "$source/cjson/cJSON.c" "$1"
