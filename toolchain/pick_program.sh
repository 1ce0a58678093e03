#!/bin/sh
# Runs the program for this computer's CPU.
case "$(uname -m)" in
    x86_64) isa=x86_64 ;;
    aarch64) isa=arm64 ;;
    riscv64) isa=riscv64 ;;
    *) echo "ingot: there is no program for $(uname -m) in this release" >&2; exit 1 ;;
esac
exec "$(dirname -- "$(realpath -- "$0")")/ingot-$isa" "$@"
