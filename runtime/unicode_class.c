#include "runtime/unicode_class.h"

#include "runtime/unicode_table.h"

enum unicode_class unicode_class(uint32_t code)
{
    uint32_t block;

    if (code > 0x10ffff) {
        return UNICODE_OTHER;
    }
    block = unicode_blocks[unicode_pages[code / 512] * 32u + code / 16 % 32];
    return (enum unicode_class)(unicode_classes[block * 8 + code % 16 / 2] >> code % 2 * 4 & 15);
}
