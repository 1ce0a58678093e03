#!/bin/sh
# Install the files that belong to the program below DEST: manual page, completion, documents, models, and the boards whose image is built.
# Usage: install.sh DEST BUILD
set -eu
dest=$1 build=$2
cd "$(dirname "$0")/.."
# Everybody may read what is installed, whatever the umask of root is now or was during the build.
umask 022

doc=$dest/share/doc/ingot
mkdir -p "$dest/share/man/man1" "$dest/share/bash-completion/completions" "$doc/docs" \
    "$dest/share/ingot/models" "$dest/share/ingot/boards"
"$build/host/ingot" help --man >"$dest/share/man/man1/ingot.1"
"$build/host/ingot" help --bash-completion >"$dest/share/bash-completion/completions/ingot"

cp README.md CHANGELOG.md VERSION "$doc"
cp -R docs/. "$doc/docs"
cp flash_image/FORMAT.md "$doc"
mkdir -p "$doc/models" && cp models/README.md "$doc/models"
for model in models/demo-*.ingot; do
    [ ! -f "$model" ] || cp "$model" "$dest/share/ingot/models"
done

# Linked parts whose licence requires a notice.
newlib=$(ls /usr/src/newlib/newlib-*.tar.xz 2>/dev/null | tail -n 1)
[ -z "$newlib" ] || tar -xOf "$newlib" --wildcards '*/COPYING.NEWLIB' >"$doc/COPYING.newlib"
[ ! -f /usr/share/doc/xfonts-terminus/copyright ] || cp /usr/share/doc/xfonts-terminus/copyright "$doc/COPYING.terminus-font"
[ ! -f "$build/cjson/LICENSE" ] || cp "$build/cjson/LICENSE" "$doc/COPYING.cJSON"

for about in "$build"/*/card/about; do
    board=$(basename "$(dirname "$(dirname "$about")")")
    [ -f "$build/$board/ingot.bin" ] || continue
    rm -rf "$dest/share/ingot/boards/$board"
    mkdir -p "$dest/share/ingot/boards/$board"
    cp -R "$build/$board/ingot.bin" "$build/$board/card" "$dest/share/ingot/boards/$board"
done
chmod -R u=rwX,go=rX "$doc" "$dest/share/ingot" "$dest/share/man/man1/ingot.1" "$dest/share/bash-completion/completions/ingot"
