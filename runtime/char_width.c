#include "runtime/char_width.h"

#include <stddef.h>

static const struct block {
    uint32_t low, high, columns;
} blocks[] = {
    { 0x300, 0x36f, 0 },   { 0x200b, 0x200f, 0 }, { 0xfe00, 0xfe0f, 0 },
    { 0x1100, 0x115f, 2 }, { 0x2e80, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },
    { 0xf900, 0xfaff, 2 }, { 0xfe30, 0xfe6f, 2 }, { 0xff00, 0xff60, 2 },
    { 0xffe0, 0xffe6, 2 }, { 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
    { 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
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
