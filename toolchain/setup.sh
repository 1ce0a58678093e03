#!/bin/sh
# Install what building and testing need on Debian 12 or Ubuntu. Run by `make setup`.
# Packages that are there already cost one second.
set -eu

packages="build-essential git perl clang-format python3 python3-pexpect python3-jinja2 python3-numpy libopenblas0-pthread mtools dosfstools exfatprogs gdisk xz-utils lz4 libcjson-dev libbearssl-dev openssl node-llhttp libwslay-dev curl python3-serial haproxy nginx-light lrzsz espeak-ng pocketsphinx pocketsphinx-en-us chromium
    xfonts-terminus
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-riscv64-unknown-elf newlib-source"
command -v npm >/dev/null || packages="$packages nodejs npm"
# For `make bench-kernels` alone: skipped where a release has none.
bench_packages="llvm-19"
qemu_packages="qemu-system-arm qemu-system-misc qemu-user"

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

missing() {
    for p in "$@"; do
        dpkg-query -W -f='${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || printf '%s ' "$p"
    done
}

# QEMU 8 has no trustworthy RVV; Debian 12 carries 10 in its backports.
qemu_is_old() {
    version=$(qemu-system-riscv64 --version 2>/dev/null |
        sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
    [ "${version:-0}" -lt 9 ]
}

add_backports() {
    . /etc/os-release
    [ "${VERSION_CODENAME:-}" = bookworm ] || return 0
    grep -rqs bookworm-backports /etc/apt/sources.list /etc/apt/sources.list.d && return 0
    echo "setup: adding bookworm-backports for QEMU 10"
    echo "deb http://deb.debian.org/debian bookworm-backports main" |
        $sudo tee /etc/apt/sources.list.d/bookworm-backports.list >/dev/null
}

# RUNLEVEL=1: the proxy is for a test, and is not started now.
install() { $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q --no-install-recommends "$@"; }

# FROM TO WITHOUT: npm packages at the versions and checksums of FROM/package-lock.json, into TO/node_modules; what is not to be had
# without them.
install_npm() {
    cmp -s "$1/package-lock.json" "$2/node_modules/.from" && return 0
    mkdir -p "$2"
    [ "$1" = "$2" ] || cp "$1/package.json" "$1/package-lock.json" "$2/"
    if (cd "$2" && npm ci --ignore-scripts --no-audit --no-fund --silent); then
        cp "$1/package-lock.json" "$2/node_modules/.from"
    else
        echo "setup: npm has brought nothing: $3"
    fi
}

install_all_npm() {
    cd "$(dirname "$0")/.."
    install_npm host/web host/web "the page of make web is without a terminal"
    install_npm tests/clients "${O:-build}/clients" "tests/boot/openai.t is skipped"
}

# shellcheck disable=SC2086 # lists of words on purpose
need=$(missing $packages)
for p in $bench_packages; do
    [ -z "$(missing "$p")" ] || ! apt-cache show "$p" >/dev/null 2>&1 || need="$need $p"
done
if [ -z "$need" ] && ! qemu_is_old && [ -z "$(missing $qemu_packages)" ]; then
    echo "setup: all packages are installed"
    install_all_npm
    exit 0
fi
command -v apt-get >/dev/null || {
    echo "setup: no apt-get here; install by hand: $packages $qemu_packages (QEMU 9 or newer)" >&2
    exit 1
}
add_backports
$sudo apt-get update -q
[ -z "$need" ] || install $need
if qemu_is_old || [ -n "$(missing $qemu_packages)" ]; then
    . /etc/os-release
    if [ "${VERSION_CODENAME:-}" = bookworm ]; then
        install -t bookworm-backports $qemu_packages
    else
        install $qemu_packages
    fi
fi
install_all_npm
