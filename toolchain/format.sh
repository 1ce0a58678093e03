#!/bin/sh
# Format every C file with .clang-format; --check only lists the files that are not formatted.
set -eu
cd "$(dirname "$0")/.."
# Headers of the assembly are left out, because they contain assembly.
files() {
    git ls-files -z -co --exclude-standard '*.c' '*.h' ':!kernels/arm64' ':!kernels/riscv64' ':!kernels/x86_64' ':!boot/asm.h' \
        ':!boot/stacks.h' ':!boot/*/trap_frame.h' ':!boot/arm64/sve_longest.h'
}
git ls-files >/dev/null 2>&1 || {
    echo "format: this is not a clone with git, which lists the files: the format is not checked" >&2
    [ "${1:-}" = --check ] || exit 1
    exit 0
}
command -v clang-format >/dev/null || { echo "format: no clang-format here; make setup-tests installs it" >&2; exit 1; }
if [ "${1:-}" = --check ]; then
    files | xargs -0 -n 300 -P "$(getconf _NPROCESSORS_ONLN)" clang-format --dry-run --Werror || {
        echo "format: run make format" >&2
        exit 1
    }
else
    # A second run may join lines after the first run has broken one.
    files | xargs -0 clang-format -i
    files | xargs -0 clang-format -i
fi
