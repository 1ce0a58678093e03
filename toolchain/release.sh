#!/bin/sh
# Make the files of a release from what is built. Usage: release.sh OUT BUILD VERSION FIRMWARE BOARD...
# They contain nothing that is specific to this computer or time: equal sources give equal files.
set -eu
out=$1 build=$2 version=$3 firmware=$4
shift 4
top=$(cd "$(dirname "$0")/.." && pwd)
name=ingot-$version
stage=$out/stage
model=$top/models/demo-q8_0.ingot

# The date of the newest entry in the changelog.
day=$(sed -n 's/^## .*(\([0-9-]*\))$/\1/p' "$top/CHANGELOG.md" | head -n 1)
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(date -u -d "$day" +%s)}" LC_ALL=C TZ=UTC
umask 022

rm -rf "$out"
mkdir -p "$stage/$name/bin"

# ---- the archive: programs, boards, models, documents ----
"$top/toolchain/install.sh" "$stage/$name" "$build"
for isa in x86_64 arm64 riscv64; do
    install -m 755 "$build/static-$isa/ingot" "$stage/$name/bin/ingot-$isa"
done
install -m 755 "$top/toolchain/pick_program.sh" "$stage/$name/bin/ingot"
rm -rf "$stage/boards" && mv "$stage/$name/share/ingot/boards" "$stage/boards"
mkdir "$stage/$name/share/ingot/boards"
for board in "$@"; do mv "$stage/boards/$board" "$stage/$name/share/ingot/boards"; done
# try-qemu.sh starts the same command as `make run`.
for board in virt-arm64 virt-riscv64; do
    command=$("${MAKE:-make}" -C "$top" --no-print-directory -s qemu-command "BOARD=$board")
    printf "    %s) command='%s' ;;\n" "$board" "$command"
done >"$stage/machines"
sed -e "/^@MACHINES@\$/{r $stage/machines" -e 'd}' "$top/toolchain/try_qemu.sh" >"$stage/$name/try-qemu.sh"
chmod 755 "$stage/$name/try-qemu.sh"
python3 "$top/toolchain/notice.py" "$build" "$stage/$name/NOTICE" "$@"
tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
    --mode='u+rw,go+r-w,a+X' -C "$stage" -cf "$out/$name.tar" "$name"
xz -T1 -9 "$out/$name.tar"

# ---- the cards ----
# Boards with EFI share one card: each machine's firmware finds its own program on it.
cards=
for board in "$@"; do
    case $board in efi-*) ;; *) cards="$cards $board" ;; esac
done
case " $* " in *" efi-"*) cards="$cards efi" ;; esac
for board in $cards; do
    card=$out/$name-$board.img
    given=$firmware
    # A board whose first loader needs a payload, or whose firmware has EFI, does not use a Raspberry Pi's firmware.
    ! grep -qs '^loader ' "$stage/$name/share/ingot/boards/$board/card/about" && [ "$board" != efi ] || given=
    "$build/host/ingot" card "$board" -o "$card" --boards "$stage/$name/share/ingot/boards" \
        --power-of-two ${given:+--firmware "$given"} "$model" >"$stage/log" 2>&1 ||
        { cat "$stage/log" >&2; exit 1; }
    xz -T1 -6 "$card"
done

rm -rf "$stage"
cd "$out"
sha256sum -- *.xz >SHA256SUMS
ls -l
