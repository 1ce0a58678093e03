#!/usr/bin/env bash
# Lay out what a board's card carries beside models: the image, the board's own files with their
# words filled in, firmware where there is some, and a README for the person who mounts the card.
# card.sh --tree takes the folder.
set -euo pipefail

usage() {
    cat <<'EOF'
usage: boot_files.sh OUT-FOLDER --board NAME --image FILE=NAME [options]
  --board NAME        board/NAME/card/ has the files, board/NAME/wiring.txt the serial wiring
  --image FILE=NAME   the image, and its name on the card
  --model NAME        of the model, for the README
  --words TEXT        boot arguments; default: those of board/NAME/card/words
  --firmware DIR      where the board's firmware files are; none: the card says what it lacks
  --needs LIST        patterns of firmware files, as one word
  --version TEXT      of Ingot, for the README
  --help              this text
In the board's files @WORDS@ becomes the boot arguments and @IMAGE@ the image's name.
EOF
}

fail() {
    echo "boot_files.sh: $*" >&2
    exit 1
}

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
out= board= image= model= words= words_given=no firmware= needs= version=
while [ $# -gt 0 ]; do
    case "$1" in
        --help) usage; exit 0 ;;
        --board|--image|--model|--words|--firmware|--needs|--version)
            [ $# -gt 1 ] || fail "$1 needs a value"
            declare "${1#--}=$2"
            [ "$1" != --words ] || words_given=yes
            shift ;;
        -*) fail "unknown option $1; --help lists them" ;;
        *) [ -z "$out" ] || fail "one folder, please"; out=$1 ;;
    esac
    shift
done
[ -n "$out" ] && [ -n "$board" ] && [ -n "$image" ] || { usage >&2; exit 2; }
source=$here/../../board/$board
[ -d "$source" ] || fail "there is no board/$board"
[ -f "${image%%=*}" ] || fail "${image%%=*}: no such file; make image BOARD=$board builds it"
[ -z "$firmware" ] || [ -d "$firmware" ] || fail "FIRMWARE=$firmware is no folder"

if [ $words_given = no ] && [ -f "$source/card/words" ]; then words=$(cat "$source/card/words"); fi
case "$words" in
    *$'\n'*) fail "boot arguments are one line" ;;
esac

# The text of a file with @NAMES@ filled in; what may be several lines stands on one of its own.
fill_in() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        case "$line" in
            @WIRING@) [ ! -f "$source/wiring.txt" ] || cat "$source/wiring.txt"; continue ;;
            @MISSING@) [ -z "$missing" ] || printf '%s\n' "$missing"; continue ;;
        esac
        line=${line//@WORDS@/"$words"}
        line=${line//@IMAGE@/"${image#*=}"}
        line=${line//@BOARD@/"$board"}
        line=${line//@MODEL@/"$model"}
        line=${line//@VERSION@/"$version"}
        printf '%s\n' "$line"
    done
}

# Every file of the firmware's folder that matches a pattern; `missing` tells of those without.
copy_firmware() {
    local pattern file lacking=
    local -a patterns
    read -r -a patterns <<<"$needs"
    for pattern in "${patterns[@]}"; do
        local found=no
        [ -n "$firmware" ] || { lacking="$lacking $pattern"; continue; }
        while IFS= read -r file; do
            mkdir -p "$out/$(dirname -- "$file")"
            cp -- "$firmware/$file" "$out/$file"
            found=yes
        done < <(cd "$firmware" && find . -type f -path "./$pattern" -printf '%P\n' | sort)
        [ $found = yes ] || lacking="$lacking $pattern"
    done
    [ -n "$lacking" ] || return 0
    missing="
FIRMWARE IS MISSING, so this card starts no board yet. Copy these files of the board's maker
next to this one:$lacking
(Debian has them in the package raspi-firmware; make card FIRMWARE=folder copies them.)"
    echo "card: no firmware on it, so it starts in QEMU only; FIRMWARE=folder copies:$lacking" >&2
}

rm -rf "$out"
mkdir -p "$out"
missing=
[ -z "$needs" ] || copy_firmware
cp -- "${image%%=*}" "$out/${image#*=}"
if [ -d "$source/card" ]; then
    while IFS= read -r file; do
        mkdir -p "$out/$(dirname -- "$file")"
        fill_in <"$source/card/$file" >"$out/$file"
    done < <(cd "$source/card" && find . -type f ! -path ./words -printf '%P\n' | sort)
fi
fill_in <"$here/card_readme.txt" | sed 's/$/\r/' >"$out/README.txt" # Windows' editor, too
