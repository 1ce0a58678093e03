#include "runtime/text/char_width.h"

#include <stddef.h>

#include "runtime/text/unicode_class.h"

/* Width 0 is for nonspacing marks. */
static const struct block {
    uint32_t low, high, columns;
} blocks[] = {
    { 0x300, 0x36f, 0 },     { 0x483, 0x489, 0 },     { 0x591, 0x5bd, 0 },
    { 0x610, 0x61a, 0 },     { 0x64b, 0x65f, 0 },     { 0x93c, 0x93c, 0 },
    { 0x941, 0x948, 0 },     { 0x94d, 0x94d, 0 },     { 0xe31, 0xe31, 0 },
    { 0xe34, 0xe3a, 0 },     { 0xe47, 0xe4e, 0 },     { 0x1ab0, 0x1aff, 0 },
    { 0x1dc0, 0x1dff, 0 },   { 0x200b, 0x200f, 0 },   { 0x20d0, 0x20f0, 0 },
    { 0x3099, 0x309a, 0 },   { 0xfe00, 0xfe0f, 0 },   { 0xfe20, 0xfe2f, 0 },
    { 0xe0100, 0xe01ef, 0 }, { 0x1100, 0x115f, 2 },   { 0x2e80, 0xa4cf, 2 },
    { 0xac00, 0xd7a3, 2 },   { 0xf900, 0xfaff, 2 },   { 0xfe30, 0xfe6f, 2 },
    { 0xff00, 0xff60, 2 },   { 0xffe0, 0xffe6, 2 },   { 0x1f300, 0x1f64f, 2 },
    { 0x1f680, 0x1f6ff, 2 }, { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
};

unsigned char_width(uint32_t code)
{
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++) {
        if (code >= blocks[i].low && code <= blocks[i].high) {
            return blocks[i].columns;
        }
    }
    return 1;
}

bool char_joins(uint32_t code)
{
    return unicode_class(code) == UNICODE_M || code == 0x200c || code == 0x200d;
}
