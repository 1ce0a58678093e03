#!/bin/sh
# Compile the parts of newlib that an image can link, once for a bare target, from the distribution's source package (newlib-source). usage:
# newlib.sh ISA CROSS_COMPILE "CFLAGS" PREFIX
# PREFIX gets include/ and lib/. This takes a few seconds on two cores; newlib's own build configures and compiles 1,500 files, of which an image
# links about twenty.
set -eu
isa=$1 cross=$2 cflags=$3 prefix=$4
jobs=$(nproc 2>/dev/null || echo 2)

# Add a name here when the linker says "undefined reference" to a function of newlib. The image has no stdio and no locale, so keep them out;
# boot/syscalls.c gives malloc no memory, and tests/boot/traps.t checks that malloc fails. A name without a file in this version of newlib is skipped.
libc="errno impure malloc mlock reent sbrkr
    memchr memcmp memcpy memmove memset memccpy mempcpy
    strcat strchr strcmp strcpy strcspn strlen strncat strncmp strncpy strnlen strpbrk strrchr strspn strstr
    memchr-stub memcmp-stub memcpy-stub memmove-stub memset-stub memcpy-asm
    strchr-stub strcmp-stub strcpy-stub strlen-stub strncmp-stub strnlen-stub strrchr-stub"
libm="s_lib_ver math_err math_errf s_fpclassify sf_fpclassify
    s_copysign sf_copysign s_fabs sf_fabs s_fma sf_fma s_fmax sf_fmax s_fmin sf_fmin
    s_ceil sf_ceil s_floor sf_floor s_rint sf_rint s_nearbyint sf_nearbyint s_lrint sf_lrint
    s_round sf_round s_lround sf_lround s_trunc sf_trunc s_finite sf_finite
    e_sqrt ef_sqrt w_sqrt wf_sqrt"

case $isa in
    arm64) machine=aarch64 long_long="#define _WANT_IO_LONG_LONG 1" dynamic="#define _ATEXIT_DYNAMIC_ALLOC 1" ;;
    riscv64) machine=riscv long_long='' dynamic='' ;;
    x86_64) machine=x86_64 long_long="#define _WANT_IO_LONG_LONG 1" dynamic="#define _ATEXIT_DYNAMIC_ALLOC 1" ;;
    *) echo "newlib: unknown ISA $isa" >&2; exit 1 ;;
esac

archive=$(ls /usr/src/newlib/newlib-*.tar.xz 2>/dev/null | tail -n 1)
[ -n "$archive" ] || { echo "newlib: /usr/src/newlib/newlib-*.tar.xz is missing: run 'make setup'" >&2; exit 1; }
command -v "${cross}gcc" >/dev/null || {
    echo "newlib: ${cross}gcc is missing: run 'make setup', or give CROSS_COMPILE= another compiler (docs/INSTALL.md)" >&2
    exit 1
}
version=$(basename "$archive" .tar.xz | sed 's/^newlib-//')

mkdir -p "$prefix"
prefix=$(cd "$prefix" && pwd)
work=$prefix/build
log=$work/log
# If two makes run at the same time, the second one waits and finds the work done.
exec 9>"$prefix.lock"
flock 9
[ ! -f "$prefix/lib/libc.a" ] || exit 0
rm -rf "$work" "$prefix/include"
mkdir -p "$work/newlib" "$work/c" "$work/m" "$prefix/include" "$prefix/lib"
echo "newlib: compiling what an image links, for $isa"
tar -xf "$archive" -C "$work/newlib" --strip-components=2 --wildcards '*/newlib/libc' '*/newlib/libm'
source=$work/newlib

# ---- the headers ----
for d in machine sys; do
    [ ! -d "$source/libc/machine/$machine/$d" ] || cp -r "$source/libc/machine/$machine/$d" "$prefix/include/"
done
cp -r "$source/libc/include/." "$prefix/include/"
# Settings of newlib's configure for a target with one thread and without files.
major=${version%%.*} minor=${version#*.}
patch=${minor#*.} minor=${minor%%.*}
case $patch in *[!0-9]* | '') patch=0 ;; esac
cat >"$prefix/include/_newlib_version.h" <<END
# ifndef _NEWLIB_VERSION_H__
#define _NEWLIB_VERSION_H__ 1
#define _NEWLIB_VERSION "$version"
#define __NEWLIB__ $major
#define __NEWLIB_MINOR__ $minor
#define __NEWLIB_PATCHLEVEL__ $patch
#endif
END
cat >"$prefix/include/newlib.h" <<END
#ifndef __NEWLIB_H__
#define __NEWLIB_H__ 1
#include <_newlib_version.h>
$long_long
$dynamic
#define _WANT_REENT_SMALL 1
#define _REENT_CHECK_VERIFY 1
#define _MB_LEN_MAX 1
#define HAVE_INITFINI_ARRAY 1
#define _HAVE_LONG_DOUBLE 1
#define _HAVE_CC_INHIBIT_LOOP_TO_LIBCALL 1
#define _FSEEK_OPTIMIZATION 1
#define _LITE_EXIT 1
#endif
END

# ---- the archives ----
# The objects must not contain the path of this folder: equal sources give equal bytes.
own=$("${cross}gcc" -print-file-name=include)
fixed=$("${cross}gcc" -print-file-name=include-fixed)
flags="-O2 -g0 -ffunction-sections -fdata-sections -fno-omit-frame-pointer -ffp-contract=off -fno-builtin -fno-math-errno"
flags="$flags -fno-stack-protector -fno-pie -ffile-prefix-map=$work=newlib $cflags -D_COMPILING_NEWLIB -D__NO_SYSCALLS__"
# The machine's own headers come first, as in newlib's build; programs that use newlib get the general headers.
flags="$flags -nostdinc -isystem $own -isystem $fixed -isystem $source/libc/machine/$machine -isystem $prefix/include"
flags="$flags -I$source/libm/common -I$source/libc/string"

# $1: c or m, then names. Prints for each name the file that newlib would use: the machine's own file if there is one.
find_sources() {
    lib=lib$1
    shift
    for name in "$@"; do
        for folder in "$lib/machine/$machine" "$lib/string" "$lib/errno" "$lib/reent" "$lib/stdlib" "$lib/math" "$lib/common"; do
            for kind in S c; do
                [ -f "$source/$folder/$name.$kind" ] || continue
                echo "$folder/$name.$kind"
                continue 3
            done
        done
    done
}

# $1: c or m, then names.
make_archive() {
    kind=$1
    # shellcheck disable=SC2086 # lists of words on purpose
    (cd "$source" && find_sources "$@" |
        xargs -P "$jobs" -n 4 sh -c 'to=$1 cc=$2; shift 2
            for file in "$@"; do
                name=${file##*/}
                $cc -c "$file" -o "$to/${name%.*}.o" || exit 255
            done' sh "$work/$kind" "${cross}gcc $flags") || return 1
    "${cross}ar" rcsD "$work/lib$kind.a" "$work/$kind"/*.o
}
# shellcheck disable=SC2086
{
    # One file, from which newlib makes one object per function.
    for part in MALLOC FREE; do
        "${cross}gcc" $flags -DINTERNAL_NEWLIB -DDEFINE_$part -c "$source/libc/stdlib/mallocr.c" -o "$work/c/$part.o" || break
    done
    make_archive m $libm && make_archive c $libc
} >"$log" 2>&1 ||
    { echo "newlib: failed, the last lines of $log:" >&2; tail -n 20 "$log" >&2; exit 1; }
mv "$work/libm.a" "$prefix/lib/libm.a"
mv "$work/libc.a" "$prefix/lib/libc.a" # last, because make checks for this file
rm -rf "$work"
