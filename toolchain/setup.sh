#!/bin/sh
# Install packages on Debian or Ubuntu. usage: setup.sh [tests|clients|voice|bench|published]
#   (nothing)  what the first prompt needs: compilers, QEMU, newlib's source (make setup)
#   tests      what else `make test` needs (make setup-tests, which `make test` calls)
#   clients    every client of docs/SERVE.md's table (make clients), and the compilers of those in Go, Rust and Java
#   voice      models that speak and understand, for ten spoken questions (make voice)
#   bench      what else `make bench-kernels` needs (make setup-bench)
#   published  what fetches a published model by its name (make setup MODEL=NAME)
# Packages that are there already cost less than a second. docs/INSTALL.md has other systems.
set -eu
cd "$(dirname "$0")/.."

# One line per group: its purpose, then its packages.
prompt_groups="the image: make gcc libc6-dev python3 xz-utils xfonts-terminus newlib-source gcc-aarch64-linux-gnu gcc-riscv64-unknown-elf
the program of this computer (make host): libcjson-dev libbearssl-dev libsamplerate0-dev node-llhttp libwslay-dev"
tests_groups="a card under a boot loader: u-boot-qemu
suites and their runner: git perl python3-pexpect python3-numpy libopenblas0-pthread python3-jinja2 python3-serial
the check of the format: clang-format
typing errors in comments and documents: codespell
the compilers of C++ and of other Linux programs: g++ libc6-dev-arm64-cross gcc-riscv64-linux-gnu libc6-dev-riscv64-cross
cards and disks as others make and check them: mtools dosfstools exfatprogs gdisk
keys that sign models, and the sources of BearSSL and cJSON: openssl dpkg-dev
the server behind proxies: curl haproxy nginx-light
files sent by YMODEM: lrzsz
firmware of EFI for emulated machines: qemu-efi-aarch64 u-boot-qemu ovmf
speech: espeak-ng pocketsphinx pocketsphinx-en-us
the page in a browser: chromium
the JSON-Schema-Test-Suite and the OpenAI package of PyPI: python3-pip python3-venv"
[ "$(uname -m)" = x86_64 ] || tests_groups="$tests_groups
efi-x86_64: gcc-x86-64-linux-gnu"
command -v npm >/dev/null || tests_groups="$tests_groups
clients of npm, and the terminal of the page: nodejs npm"
published_groups="published models by name: python3-pip"
bench_groups="cycles counted by llvm-mca: llvm-19"
clients_groups="clients of PyPI: python3-pip python3-venv
clients by themselves: curl"
command -v npm >/dev/null || clients_groups="$clients_groups
clients of npm: nodejs npm"
command -v go >/dev/null || clients_groups="$clients_groups
clients in Go: golang-go"
command -v cargo >/dev/null || clients_groups="$clients_groups
clients in Rust: cargo"
command -v javac >/dev/null || clients_groups="$clients_groups
clients in Java: default-jdk-headless"
command -v mvn >/dev/null || clients_groups="$clients_groups
packages of clients in Java: maven"
voice_groups="packages of PyPI: python3-pip python3-venv
voices without a model: espeak-ng flite"
prompt_qemu="qemu-system-arm qemu-system-misc"
tests_qemu="qemu-user qemu-system-x86"

what=${1:-prompt}
case $what in
    prompt) groups=$prompt_groups qemu=$prompt_qemu ;;
    tests) groups=$tests_groups qemu=$tests_qemu ;;
    clients) groups=$clients_groups qemu= ;;
    voice) groups=$voice_groups qemu= ;;
    bench) groups=$bench_groups qemu= ;;
    published) groups=$published_groups qemu= ;;
    *) echo "setup: takes tests, clients, voice, bench, published or no argument, not '$what'" >&2; exit 1 ;;
esac

sudo=
[ "$(id -u)" = 0 ] || sudo=sudo

# Prints the named packages that are not installed.
missing() {
    # shellcheck disable=SC2086 # a list of words on purpose
    there=" $(dpkg-query -W -f='${db:Status-Status}=${Package} ' $1 2>/dev/null | tr ' ' '\n' | sed -n 's/^installed=//p' | tr '\n' ' ')"
    for p in $1; do
        case $there in *" $p "*) ;; *) printf '%s ' "$p" ;; esac
    done
}

# QEMU 8 has no trustworthy RVV; Debian 12 has version 10 in its backports.
qemu_is_old() {
    version=$(qemu-system-riscv64 --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9]*\).*/\1/p')
    [ "${version:-0}" -lt 9 ]
}

is_bookworm() {
    . /etc/os-release
    [ "${VERSION_CODENAME:-}" = bookworm ]
}

add_backports() {
    grep -rqs bookworm-backports /etc/apt/sources.list /etc/apt/sources.list.d && return 0
    echo "setup: adding bookworm-backports for QEMU 10"
    echo "deb http://deb.debian.org/debian bookworm-backports main" |
        $sudo tee /etc/apt/sources.list.d/bookworm-backports.list >/dev/null
}

# RUNLEVEL=1: the proxies are for tests, and are not started now.
install() {
    $sudo env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q --no-install-recommends "$@"
}

install_qemu() {
    # shellcheck disable=SC2086
    if is_bookworm; then
        install -t bookworm-backports $1
    else
        install $1
    fi
}

# FROM TO WITHOUT: installs npm packages, with the versions and checksums of FROM/package-lock.json, into TO/node_modules. WITHOUT: the tests that
# are skipped without them.
install_npm() {
    cmp -s "$1/package-lock.json" "$2/node_modules/.from" && return 0
    echo "setup: npm fetches $(basename "$1")/package-lock.json"
    mkdir -p "$2"
    [ "$1" = "$2" ] || cp "$1/package.json" "$1/package-lock.json" "$2/"
    if (cd "$2" && timeout 120 npm ci --ignore-scripts --no-audit --no-fund --silent); then
        cp "$1/package-lock.json" "$2/node_modules/.from"
    else
        echo "setup: npm could not fetch the packages: $3"
    fi
}

# FROM TO WITHOUT: installs PyPI packages, with the versions of the list FROM, which includes dependencies, into the environment TO. WITHOUT: the
# tests that are skipped without them. An environment may take several lists.
install_python() {
    cmp -s "$1" "$2/.from-$(basename "$1")" && return 0
    echo "setup: pip fetches $1"
    if { [ -x "$2/bin/python" ] || python3 -m venv --without-pip "$2"; } &&
        timeout 900 python3 -m pip --python "$2/bin/python" install -q --no-deps -r "$1"; then
        cp "$1" "$2/.from-$(basename "$1")"
    else
        echo "setup: pip could not fetch the packages: $3"
    fi
}

# TO: installs the JSON-Schema-Test-Suite, from the source of the package jsonschema, into TO/json-schema-test-suite;
# tests/clients/json-schema-test-suite.txt has version and checksum.
install_suite() {
    cmp -s tests/clients/json-schema-test-suite.txt "$1/json-schema-test-suite/.from" && return 0
    echo "setup: pip fetches tests/clients/json-schema-test-suite.txt"
    mkdir -p "$1"
    aside=$(mktemp -d "$1/suite.XXXXXX")
    if timeout 180 python3 -m pip download -q --no-deps --no-binary jsonschema --require-hashes -d "$aside" \
        -r tests/clients/json-schema-test-suite.txt &&
        tar xzf "$aside"/jsonschema-*.tar.gz -C "$aside" --strip-components=3 --wildcards \
            '*/json/tests/draft7' '*/json/tests/draft2020-12'; then
        cp tests/clients/json-schema-test-suite.txt "$aside/.from"
        rm -rf "$aside"/jsonschema-*.tar.gz "$1/json-schema-test-suite"
        mv "$aside" "$1/json-schema-test-suite"
    else
        rm -rf "$aside"
        echo "setup: pip could not fetch it: unit/grammar/schema_suite is skipped"
    fi
}

# ---- missing packages, and what they are needed for ----
need=$(echo "$groups" | while IFS= read -r line; do
    packages=$(missing "${line##*: }")
    [ -z "$packages" ] || { echo "setup: missing for ${line%: *}: $packages" >&2; printf '%s' "$packages"; }
done)
need_qemu=$(missing "$qemu")
[ "$what" != prompt ] || ! qemu_is_old || need_qemu=$qemu
[ -z "$need_qemu" ] || echo "setup: missing for emulated boards: $need_qemu"

if [ -n "$need$need_qemu" ]; then
    command -v apt-get >/dev/null || {
        echo "setup: there is no apt-get here; docs/INSTALL.md says what to install by hand" >&2
        [ "$what" != prompt ] || exit 1
        exit 0
    }
    [ -z "$sudo" ] || command -v sudo >/dev/null || {
        echo "setup: packages can only be installed as root, and sudo is missing: run toolchain/setup.sh${1:+ $1} as root" >&2
        [ "$what" != prompt ] || exit 1
        exit 0
    }
    [ -z "$need_qemu" ] || ! is_bookworm || add_backports
    $sudo apt-get update -q || echo "setup: apt-get update failed; trying with the existing lists" >&2
    # Installing all at once is fastest. If that fails, the available ones are installed one by one.
    # shellcheck disable=SC2086
    [ -z "$need" ] || install $need || for p in $need; do
        install "$p" || {
            echo "setup: $p cannot be installed" >&2
            [ "$what" != prompt ] || exit 1
        }
    done
    [ -z "$need_qemu" ] || install_qemu "$need_qemu" || {
        echo "setup: QEMU cannot be installed" >&2
        [ "$what" != prompt ] || exit 1
    }
fi
if [ "$what" = tests ]; then
    install_npm host/web host/web "the page of make web has no terminal"
    install_npm tests/clients "${O:-build}/clients" "tests/boot/openai.t is skipped"
    install_suite "${O:-build}/clients"
    toolchain/setup_trees.sh "${O:-build}/boards/trees" || echo "setup: device trees could not be fetched: tests/boards/trees.t is skipped"
    install_python tests/clients/python-openai.txt "${O:-build}/clients/python" "tests/boot/clients.t skips the OpenAI package of PyPI"
fi
if [ "$what" = clients ]; then
    mkdir -p "${O:-build}/clients"
    install_python tests/clients/python.txt "${O:-build}/clients/python" "make clients skips Python's clients"
    install_npm tests/clients/ai-sdk "${O:-build}/clients/ai-sdk" "make clients skips Node's clients"
    install_npm tests/clients/mcp "${O:-build}/clients/mcp" "make clients skips the MCP servers of npm"
fi
if [ "$what" = voice ]; then
    mkdir -p "${O:-build}/clients"
    install_python tests/clients/python-voice.txt "${O:-build}/clients/voice" "tests/boot/voice_model.t is skipped"
fi
[ -n "$need$need_qemu" ] || echo "setup: every package for '$what' is installed"
