#!/bin/sh
# Gets the source of a package from the distribution. Usage: fetch_source.sh PACKAGE FOLDER, which must not be there
# yet. apt-get checks the signature; its lists stay in a separate folder.
set -eu

package=$1 folder=$2
fail() {
    echo "fetch_source.sh: the source of $package cannot be fetched: $1" >&2
    exit 1
}

command -v apt-get >/dev/null || fail "there is no apt-get here; unpack the source into $folder by hand"
. /etc/os-release
case "$ID" in
    ubuntu) line="deb-src http://archive.ubuntu.com/ubuntu $VERSION_CODENAME main universe" ;;
    *) line="deb-src http://deb.debian.org/debian ${VERSION_CODENAME:-bookworm} main" ;;
esac

work=$(mktemp -d "${TMPDIR:-/tmp}/source.XXXXXX")
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$work/lists/partial" "$(dirname "$folder")"
folder=$(cd "$(dirname "$folder")" && pwd)/$(basename "$folder")
echo "$line" >"$work/sources.list"
cd "$work"
apt() {
    timeout 120 apt-get -q -o Dir::Etc::SourceList="$work/sources.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$work/lists" -o APT::Sandbox::User=root "$@" >"$work/log" 2>&1
}
apt update && apt source "$package" || fail "$(tail -n 1 "$work/log")"
set -- "$work/$package"-*/
[ -d "$1" ] || fail "apt-get fetched no source"
rm -rf "$folder.new"
mv "$1" "$folder.new"
mv "$folder.new" "$folder"
