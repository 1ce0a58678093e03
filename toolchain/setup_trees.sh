#!/bin/sh
# Fetch the device trees that Debian's kernel packages have for our boards. usage: setup_trees.sh FOLDER
# The packages of arm64 and riscv64 (205 MB, for tests/boards/trees.t) are downloaded by apt-get with separate lists, so this system's
# lists do not change; only the .dtb files are kept. Without Debian's keys or a network nothing is fetched: a message says so, and the
# test is skipped; the next try is a day later. With INGOT_NO_TREES=1 nothing is fetched.
set -eu
to=$1
keys=/usr/share/keyrings/debian-archive-keyring.gpg
seconds=150 # time limit of one command of apt-get
without="tests/boards/trees.t is skipped"
version=2 # version of the fetched files: another number fetches again; tests/boards/board_trees.py has the same number

[ ! -f "$to/.complete.$version" ] || exit 0
[ -z "${INGOT_NO_TREES:-}" ] || exit 0
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null && [ -f "$keys" ] || {
    echo "setup: apt-get or Debian's keys ($keys) are missing: $without"
    exit 0
}
if [ -n "$(find "$to/.tried.$version" -mmin -1440 2>/dev/null)" ]; then
    echo "setup: the last try fetched no kernel package: $without; to try again now: rm $to/.tried.$version"
    exit 0
fi
mkdir -p "$to"
: >"$to/.tried.$version"
to=$(cd "$to" && pwd)
aside=$(mktemp -d "$to/fetch.XXXXXX")
trap 'rm -rf "$aside"' EXIT

# ARCHITECTURE: sets how apt-get and apt-cache are called for it.
apt_of() {
    cat >"$aside/$1.conf" <<CONF
Dir "$aside/$1";
Dir::State "$aside/$1";
Dir::State::status "$aside/$1/status";
Dir::Cache "$aside/$1/cache";
Dir::Etc "$aside/$1/etc";
APT::Architecture "$1";
APT::Architectures { "$1"; };
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "0";
Acquire::http::Timeout "20";
CONF
}

# ARCHITECTURE SUITE PACKAGE PATTERN...: the newest kernel's files of those names, into $to. Since Linux 6.17 the files are in the
# package "base", not in "image". Only these kernels describe a Pi 5's PCIe, but they have a Pi 4's SD host under another path
# than the Pi 4's firmware.
fetch() {
    arch=$1 suite=$2 package=$3
    shift 3
    rm -rf "${aside:?}/$arch"
    mkdir -p "$aside/$arch/lists/partial" "$aside/$arch/cache/archives/partial" "$aside/$arch/etc/apt.conf.d" \
        "$aside/$arch/etc/preferences.d"
    : >"$aside/$arch/status"
    apt_of "$arch"
    echo "deb [arch=$arch signed-by=$keys] http://deb.debian.org/debian $suite main" >"$aside/$arch/etc/sources.list"
    APT_CONFIG="$aside/$arch.conf" timeout "$seconds" apt-get update -qq || return 1
    kernel=$(APT_CONFIG="$aside/$arch.conf" apt-cache search --names-only "^linux-$package-[0-9.]*[0-9](\\+deb[0-9.]*)?-$arch\$" |
        cut -d' ' -f1 | sort -V | tail -1)
    [ -n "$kernel" ] || return 1
    echo "setup: fetching $kernel of $suite for its device trees"
    (cd "$aside" && APT_CONFIG="$aside/$arch.conf" timeout "$seconds" apt-get download -qq "$kernel") || return 1
    mkdir -p "$aside/out"
    dpkg-deb --fsys-tarfile "$aside/$kernel"_*.deb | tar xf - -C "$aside/out" --wildcards --no-anchored "$@" || return 1
    rm -f "$aside/$kernel"_*.deb
}

if fetch arm64 bookworm-backports image 'bcm2711-rpi-*.dtb' 'bcm2837-rpi-*.dtb' &&
    fetch arm64 trixie-backports base 'bcm2712-*.dtb' &&
    fetch riscv64 trixie image 'jh7110-starfive-visionfive-2-*.dtb' 'mpfs-icicle-kit*.dtb'; then
    find "$aside/out" -name '*.dtb' -exec mv {} "$to" \;
    : >"$to/.complete.$version"
else
    echo "setup: apt-get fetched no kernel package: $without"
fi
