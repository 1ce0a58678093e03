#!/bin/sh
# Install what building and testing need on Debian 12 or Ubuntu. Run by `make setup`.
# Packages that are there already cost one second.
set -eu

packages="build-essential git perl clang-format python3 python3-pexpect python3-jinja2 python3-numpy libopenblas0-pthread mtools dosfstools exfatprogs gdisk xz-utils lz4 libcjson-dev libbearssl-dev openssl libwebsockets-dev curl python3-serial haproxy nginx-light lrzsz espeak-ng pocketsphinx pocketsphinx-en-us chromium
    xfonts-terminus
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    gcc-riscv64-linux-gnu libc6-dev-riscv64-cross gcc-riscv64-unknown-elf newlib-source"
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

# For the page's terminal alone, at the versions of host/web/package-lock.json: without it the page has none.
install_web() {
    web="$(dirname "$0")/../host/web"
    cmp -s "$web/package-lock.json" "$web/node_modules/.from" && return
    (cd "$web" && npm ci --ignore-scripts --no-audit --no-fund --silent && cp package-lock.json node_modules/.from) ||
        echo "setup: npm has not brought xterm.js: the page of make web is without a terminal"
}

# shellcheck disable=SC2086 # lists of words on purpose
need=$(missing $packages)
command -v npm >/dev/null || need="$need npm"
for p in $bench_packages; do
    [ -z "$(missing "$p")" ] || ! apt-cache show "$p" >/dev/null 2>&1 || need="$need $p"
done
if [ -z "$need" ] && ! qemu_is_old && [ -z "$(missing $qemu_packages)" ]; then
    echo "setup: all packages are installed"
    install_web
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
install_web
