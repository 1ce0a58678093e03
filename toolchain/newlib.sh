#!/bin/sh
# Build newlib's C library and libm once for a bare target from Debian's newlib-source.
# usage: newlib.sh TARGET CROSS_COMPILE "CFLAGS" PREFIX
# PREFIX gets include/ and lib/. About a minute on two cores.
set -eu
target=$1 cross=$2 cflags=$3 prefix=$4

source=$(ls /usr/src/newlib/newlib-*.tar.xz 2>/dev/null | tail -n 1)
[ -n "$source" ] || { echo "newlib: /usr/src/newlib/newlib-*.tar.xz is missing: run 'make setup'" >&2; exit 1; }

mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$prefix/build
log=$work/log
# Two makes at once: the second waits, and finds it done.
exec 9>"$prefix.lock"
flock 9
[ ! -f "$prefix/lib/libc.a" ] || exit 0
rm -rf "$work"
mkdir -p "$work/src" "$work/obj"
echo "newlib: building for $target (about a minute), log in $log"
tar -xf "$source" -C "$work/src" --strip-components=1
cd "$work/obj"

# No path of this folder may reach the objects: equal sources give equal bytes.
flags="-O2 -g0 -ffunction-sections -fdata-sections -fno-omit-frame-pointer -ffp-contract=off"
flags="$flags -fno-math-errno -fno-stack-protector -fno-pie -ffile-prefix-map=$work=newlib $cflags"
{
    ../src/configure --target="$target" --prefix=/ \
        --disable-newlib-supplied-syscalls --disable-libgloss --disable-multilib --disable-nls \
        --disable-newlib-wide-orient --enable-newlib-reent-small --disable-newlib-fvwrite-in-streamio \
        --disable-newlib-unbuf-stream-opt --enable-lite-exit --disable-newlib-multithread \
        CC_FOR_TARGET="${cross}gcc" AS_FOR_TARGET="${cross}as" AR_FOR_TARGET="${cross}ar" \
        RANLIB_FOR_TARGET="${cross}ranlib" LD_FOR_TARGET="${cross}ld" NM_FOR_TARGET="${cross}nm" \
        READELF_FOR_TARGET="${cross}readelf" STRIP_FOR_TARGET="${cross}strip" \
        CFLAGS_FOR_TARGET="$flags"
    make -j"$(nproc)" all-target-newlib
} >"$log" 2>&1 || { echo "newlib: failed, the last lines of $log:" >&2; tail -n 20 "$log" >&2; exit 1; }

# By hand, because `make install` wants a manual builder.
mkdir -p "$prefix/include" "$prefix/lib"
cp -r "$work/obj/$target/newlib/targ-include/." "$prefix/include/"
cp -r "$work/src/newlib/libc/include/." "$prefix/include/"
cp "$work/obj/$target/newlib/targ-include/newlib.h" "$prefix/include/newlib.h"
cp "$work/obj/$target/newlib/libm.a" "$prefix/lib/"
cp "$work/obj/$target/newlib/libc.a" "$prefix/lib/" # last: make looks for this one
rm -rf "$work"
echo "newlib: $prefix/lib/libc.a is ready"
