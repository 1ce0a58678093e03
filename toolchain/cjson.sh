#!/bin/sh
# The source of cJSON as the distribution has it, for the static programs of `make release`: its package
# has the shared library alone. Usage: cjson.sh FOLDER, which gets cJSON.c, cjson/cJSON.h and LICENSE.
# apt-get checks the signature; the lists it needs stay in a folder of its own.
set -eu

mkdir -p "$1"
folder=$(cd "$1" && pwd)
fail() {
    echo "cjson.sh: the source of cJSON cannot be fetched, which static programs need: $1" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "no apt-get here; put cJSON.c, cjson/cJSON.h and LICENSE into $folder"
. /etc/os-release
case "$ID" in
    ubuntu) line="deb-src http://archive.ubuntu.com/ubuntu $VERSION_CODENAME main universe" ;;
    *) line="deb-src http://deb.debian.org/debian ${VERSION_CODENAME:-bookworm} main" ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/cjson.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/lists/partial"
echo "$line" >"$work/sources.list"
cd "$work"
apt() {
    timeout 120 apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root "$@" >"$work/log" 2>&1
}
apt update && apt source cjson || fail "$(tail -n 1 "$work/log")"
set -- "$work"/cjson-*/cJSON.c
[ -f "$1" ] || fail "apt-get gave no cJSON.c"
source=$(dirname "$1")
mkdir -p "$folder/cjson"
cp "$source/cJSON.h" "$folder/cjson"
cp "$source/LICENSE" "$source/cJSON.c" "$folder"
