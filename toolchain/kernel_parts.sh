#!/bin/sh
# Write the parts of files whose names end in .S.in, each from a line `// ==== NAME` to the next, as TO/FOLDER/NAME.S, with line numbers for
# messages and debuggers. Another make may compile meanwhile, so files appear only when complete.
# usage: kernel_parts.sh TO FILE.S.in... | --names FILE.S.in... (FOLDER/NAME.S of each)
set -eu
to=$1
shift
if [ "$to" = --names ]; then
    exec awk '/^\/\/ ==== / { folder = FILENAME; sub("[^/]*$", "", folder); print folder $3 ".S" }' "$@"
fi
work=$(mktemp -d "$to/parts.XXXXXX")
trap 'rm -rf "$work"' EXIT
for file; do
    folder=$(dirname "$file")
    mkdir -p "$to/$folder" "$work/$folder"
    awk -v to="$work/$folder" '
        /^\/\/ ==== / { if (out != "") close(out); out = to "/" $3 ".S"; printf "#line %d \"%s\"\n", FNR + 1, FILENAME >out; next }
        out != "" { print >out }' "$file"
    for part in "$work/$folder"/*.S; do
        # An unchanged part keeps its time, so that a kernel is assembled again only if it changed.
        cmp -s "$part" "$to/$folder/${part##*/}" || mv "$part" "$to/$folder/"
    done
    rm -f "$work/$folder"/*.S
done
