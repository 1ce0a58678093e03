#!/bin/sh
# Boot a card of this release in QEMU: no compiler, no root. Ctrl-A X leaves QEMU.
# usage: try-qemu.sh [virt-arm64|virt-riscv64] [MODEL]   MODEL is an .ingot, a .gguf or a Hugging Face folder
# WORDS='prompt="Hello!" temp=0' gives boot arguments; with a prompt the machine answers and powers off.
set -eu
top=$(dirname -- "$(realpath -- "$0")")
board=${1:-virt-arm64}
model=${2:-$top/share/ingot/models/demo-q8_0.ingot}
words=${WORDS:-}

case $board in
@MACHINES@
    *) echo "try-qemu.sh: takes virt-arm64 or virt-riscv64, not '$board'" >&2; exit 1 ;;
esac
command -v "${command%% *}" >/dev/null || {
    echo "try-qemu.sh: ${command%% *} is missing: install QEMU 9 or newer (Debian: qemu-system-arm, qemu-system-misc; Fedora:" \
        "qemu-system-aarch64, qemu-system-riscv; Arch: qemu-system-aarch64, qemu-system-riscv; macOS: qemu)" >&2
    exit 1
}

card=$(mktemp "${TMPDIR:-/tmp}/ingot-card.XXXXXX")
trap 'rm -f "$card"' EXIT
trap 'exit 130' INT TERM
"$top/bin/ingot" card "$board" -o "$card" --boards "$top/share/ingot/boards" "$model"
# shellcheck disable=SC2086 # the words of a command
$command -no-reboot -kernel "$top/share/ingot/boards/$board/ingot.bin" -append "$words" \
    -drive "if=none,id=card,format=raw,file=$card" -device virtio-blk-device,drive=card
