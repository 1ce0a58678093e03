#!/bin/sh
# Tells the kind of the file MODEL= by its first bytes, before anything is compiled. Prints one line:
#   copy             an .ingot file
#   pack KEY         a file that `ingot pack` reads; every path has a different KEY
#   wrong SENTENCE   not a model; SENTENCE says why
# `ingot pack` refuses a file that only looks like a model.
set -eu

model=$1

wrong() {
    printf 'wrong MODEL=%s %s\n' "$model" "$1"
    exit 0
}

pack() {
    printf 'pack %s\n' "$(realpath -s -- "$model" | cksum | tr ' ' -)"
    exit 0
}

# The first bytes, in hexadecimal.
first_bytes() { od -An -tx1 -N"$1" -- "$model" | tr -d ' \n'; }

[ -n "$model" ] || wrong "is empty: give a .gguf, an .ingot, a Hugging Face folder or a llama2.c .bin"
[ -e "$model" ] || wrong "does not exist"
[ -r "$model" ] || wrong "cannot be read: no permission"
if [ -d "$model" ]; then
    [ -f "$model/config.json" ] || wrong "is not a Hugging Face folder: it has no config.json"
    pack
fi
[ -f "$model" ] || wrong "is neither a file nor a folder"
case "$model" in
    *.safetensors|*.json) wrong "is a part of a Hugging Face folder: give the folder" ;;
esac
case "$(first_bytes 8)" in
    494e474f54*) echo copy; exit 0 ;;  # INGOT
    47475546*|32346b61*) pack ;; # GGUF, and the magic of llama2.c
    3c21*|3c68746d*|3c48544d*) wrong "is an HTML page: download the file itself" ;;
    76657273696f6e20) wrong "is a Git LFS pointer, not the model: git lfs pull fetches it" ;; # "version "
esac

# Version 0 of llama2.c has no magic: seven numbers, of which only the sixth may be negative.
# shellcheck disable=SC2046 # words on purpose
set -- $(od -An -td4 -v -N28 -- "$model")
[ $# -eq 7 ] || wrong "is not a model: it has less than 28 bytes"
for number in "$1" "$2" "$3" "$4" "$5" "$7"; do
    if [ "$number" -le 0 ] || [ "$number" -gt 1048576 ]; then
        wrong "is not a model: neither a .gguf, an .ingot nor a llama2.c .bin"
    fi
done
pack
