#!/usr/bin/env bash
# Make a card image as other programs format cards, for tests of the code that reads cards: an MBR, one FAT32
# partition, models/*.ingot and other files. It needs dosfstools and mtools, but no root and no loop device.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: card.sh OUT.img [options] [file.ingot ...]
  --size MiB          size of the image; default: as the contents need, 40 at least
  --root FILE[:NAME]  put FILE into the root folder (as NAME, which may hold folders: a/b)
  --tree FOLDER       put all that is in FOLDER into the root folder
  --start MiB         where the partition begins; default 1, which suits cards
  --save MiB          room for a conversation: saves/chat.sav, which /save writes into
  --kv MiB            room for keys and values: ingot.kv, which kv=card writes into
  --power-of-two      round the size up to a power of two, as QEMU wants an SD card's
  --fragment          cut the models into pieces on the card, for tests
  --help              this text
The models go to models/. Write the image to a card with, for example,
  dd if=OUT.img of=/dev/sdX bs=4M conv=fsync
EOF
}

fail() {
    echo "card.sh: $*" >&2
    exit 1
}

MIB=$((1024 * 1024))
MIN_CLUSTERS=65525 # with fewer clusters a FAT32 is taken for a FAT16 (FAT32 specification, "FAT type")
VOLUME_ID=1a607001

# Times and character set are fixed, and the user's settings are ignored.
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-1735689600}" TZ=UTC LC_ALL=C.UTF-8
export MTOOLSRC=/dev/null MTOOLS_SKIP_CHECK=0
PATH="$PATH:/usr/sbin:/sbin"

out= size_mib= start_mib=1 fragment=no power_of_two=no save_mib=0 kv_mib=0
models=() roots=()

add_tree() {
    local file
    [ -d "$1" ] || fail "--tree $1 is not a folder"
    while IFS= read -r file; do
        roots+=("$1/$file:$file")
    done < <(cd "$1" && find . -type f -printf '%P\n' | sort)
}

while [ $# -gt 0 ]; do
    case "$1" in
        --help) usage; exit 0 ;;
        --size) [ $# -gt 1 ] || fail "--size needs a number of MiB"; size_mib=$2; shift ;;
        --size=*) size_mib=${1#*=} ;;
        --root) [ $# -gt 1 ] || fail "--root needs a file"; roots+=("$2"); shift ;;
        --root=*) roots+=("${1#*=}") ;;
        --tree) [ $# -gt 1 ] || fail "--tree needs a folder"; add_tree "$2"; shift ;;
        --start) [ $# -gt 1 ] || fail "--start needs a number of MiB"; start_mib=$2; shift ;;
        --start=*) start_mib=${1#*=} ;;
        --save) [ $# -gt 1 ] || fail "--save needs a number of MiB"; save_mib=$2; shift ;;
        --kv) [ $# -gt 1 ] || fail "--kv needs a number of MiB"; kv_mib=$2; shift ;;
        --power-of-two) power_of_two=yes ;;
        --fragment) fragment=yes ;;
        -*) fail "unknown option $1; --help lists them" ;;
        *) if [ -z "$out" ]; then out=$1; else models+=("$1"); fi ;;
    esac
    shift
done
[ -n "$out" ] || { usage >&2; exit 2; }
for tool in mkfs.vfat mcopy mmd mdel; do
    command -v "$tool" >/dev/null || fail "$tool is missing: install dosfstools and mtools"
done
case "$size_mib" in
    *[!0-9]*) fail "--size $size_mib is not a number of MiB" ;;
esac
check_room() { # option, MiB
    case "$2" in
        ''|*[!0-9]*) fail "$1 $2 is not a number of MiB" ;;
    esac
    [ "$2" -lt 4096 ] || fail "$1 $2: FAT32 holds files below 4 GiB only"
}
check_room --save "$save_mib"
check_room --kv "$kv_mib"
case "$start_mib" in
    ''|0|*[!0-9]*) fail "--start $start_mib is not a number of MiB from 1" ;;
esac

# ---- what goes onto it -----------------------------------------------------------------------

bytes_of() {
    [ -f "$1" ] || fail "$1: no such file"
    stat -L -c %s -- "$1"
}

content=$(((save_mib + kv_mib) * MIB)) largest=0 files=8
for file in "${models[@]}"; do
    case "$file" in
        *.ingot) ;;
        *) fail "$file: a model on a card ends in .ingot: make it with 'ingot pack'" ;;
    esac
    bytes=$(bytes_of "$file")
    [ "$bytes" -lt $((4096 * MIB)) ] || fail "$file: FAT32 holds files below 4 GiB only"
    content=$((content + bytes)) files=$((files + 1))
    [ "$bytes" -le "$largest" ] || largest=$bytes
done
for root in "${roots[@]}"; do
    bytes=$(bytes_of "${root%%:*}")
    content=$((content + bytes)) files=$((files + 1))
done
twice=$(for file in "${models[@]}"; do basename -- "$file"; done |
        tr '[:upper:]' '[:lower:]' | sort | uniq -d | head -n 1)
[ -z "$twice" ] || fail "two models are called $twice"

# ---- its geometry ----------------------------------------------------------------------------

# The largest cluster size, up to 32 KiB, that gives enough clusters; fewer clusters make the FAT shorter.
cluster_sectors_for() {
    local sectors=64
    while [ $sectors -gt 1 ] && [ $(($1 / (sectors * 512))) -lt $((MIN_CLUSTERS + 4096)) ]; do
        sectors=$((sectors / 2))
    done
    echo $sectors
}

room=$content
[ $fragment = no ] || room=$((content + 3 * largest + 4 * MIB))
needed_mib=$(((room + room / 32 + files * 32768) / MIB + 4))
[ $needed_mib -ge 40 ] || needed_mib=40
size_mib=${size_mib:-$((start_mib - 1 + needed_mib))}
if [ $power_of_two = yes ]; then
    rounded=1
    while [ $rounded -lt "$size_mib" ]; do rounded=$((rounded * 2)); done
    size_mib=$rounded
fi
[ "$size_mib" -ge $((start_mib + 35)) ] || fail "--size $size_mib is too small: FAT32 takes 35 MiB behind its start"
[ "$size_mib" -le $((2048 * 1024)) ] || fail "--size $size_mib: an MBR ends at 2 TiB"
start_sector=$((start_mib * 2048))
partition_kib=$(((size_mib - start_mib) * 1024))
cluster_sectors=$(cluster_sectors_for $((partition_kib * 1024)))

# ---- make it ---------------------------------------------------------------------------------

work=$(mktemp -d "${TMPDIR:-/tmp}/card.XXXXXX")
image="$out.part"
trap 'rm -rf "$work" "$image"' EXIT
drive="$image@@${start_mib}M"

# The bytes of a number, least significant first, as escapes for printf.
little_endian() {
    local value=$1 i
    for ((i = 0; i < $2; i++)); do
        printf '\\x%02x' $((value >> (8 * i) & 255))
    done
}

put_bytes() { # at offset, printf text
    # shellcheck disable=SC2059
    printf "$2" | dd of="$image" bs=1 seek="$1" conv=notrunc status=none
}

make_volume() {
    rm -f "$image"
    truncate -s "${size_mib}M" "$image"
    mkfs.vfat --invariant -F 32 -s "$cluster_sectors" -i "$VOLUME_ID" -n INGOT -h $start_sector \
        --offset $start_sector "$image" $partition_kib >"$work/mkfs.log" ||
        fail "mkfs.vfat failed: $(cat "$work/mkfs.log")"
    # Disk signature; one entry of type 0x0C (FAT32, LBA), CHS fields "see LBA"; 55 AA.
    put_bytes 440 "$(little_endian 0x$VOLUME_ID 4)"
    put_bytes 446 "\\x00\\xfe\\xff\\xff\\x0c\\xfe\\xff\\xff$(little_endian $start_sector 4)$(
        little_endian $((partition_kib * 2)) 4)"
    put_bytes 510 '\x55\xaa'
}

copy_in() { # file, name on the card
    mcopy -i "$drive" -o -- "$1" "::$2" || fail "$1 does not fit: use a larger --size"
}

make_folders() { # every folder of a path
    local path=$1 folder=
    while [ "$path" != "${path#*/}" ]; do
        folder="$folder${path%%/*}"
        mmd -i "$drive" -D s "::$folder" >/dev/null 2>&1 || true
        folder="$folder/" path=${path#*/}
    done
}

# Fill the start of the volume with files, free every other one, and let the allocation start there: the next copies then use the
# gaps.
HOLES=24
make_holes() {
    local hole=$((largest / (HOLES - 4) / 32768 * 32768 + 32768)) i list=()
    mmd -i "$drive" ::fill
    for ((i = 0; i < 2 * HOLES; i++)); do
        truncate -s $hole "$work/f$i"
        list+=("$work/f$i")
    done
    mcopy -i "$drive" "${list[@]}" ::fill/ || fail "--fragment needs a larger --size"
    for ((i = 0; i < 2 * HOLES; i += 2)); do mdel -i "$drive" "::fill/f$i"; done
    # FSI_Nxt_Free of the FSInfo sector, which is sector 1 of the volume
    put_bytes $((start_sector * 512 + 512 + 492)) "$(little_endian 2 4)"
}

make_volume
mmd -i "$drive" ::models
[ $fragment = no ] || make_holes
for root in "${roots[@]}"; do
    file=${root%%:*} name=$(basename -- "$file")
    [ "$root" = "$file" ] || name=${root#*:}
    make_folders "$name"
    copy_in "$file" "$name"
done
make_room() { # MiB, name on the card: zeros
    [ "$1" != 0 ] || return 0
    truncate -s "${1}M" "$work/room"
    copy_in "$work/room" "$2"
}
[ "$save_mib" = 0 ] || mmd -i "$drive" ::saves
make_room "$save_mib" saves/chat.sav
make_room "$kv_mib" ingot.kv
for file in "${models[@]}"; do copy_in "$file" "models/$(basename -- "$file")"; done
[ $fragment = no ] || mdeltree -i "$drive" ::fill
mv -- "$image" "$out"
echo "$out: $size_mib MiB, ${#models[@]} models, $((cluster_sectors * 512)) bytes a cluster"
