/* The spellings of a token's bytes in files. */
#include <string.h>

#include "flash_image/tokenizer/tokenizer_build.h"
#include "runtime/text/utf8.h"

/* GPT-2 writes a byte as the character with the byte's number if that is printable; the other
 * bytes, in order, become the characters from U+0100 on. Returns the byte, or -1. */
static int byte_of_character(uint32_t code)
{
    if ((code >= 0x21 && code <= 0x7e) || (code >= 0xa1 && code <= 0xff && code != 0xad)) {
        return (int)code;
    }
    if (code < 0x100 || code > 0x143) {
        return -1;
    }
    code -= 0x100;
    if (code <= 0x20) {
        return (int)code;
    }
    if (code == 0x43) {
        return 0xad;
    }
    return (int)(code - 0x21 + 0x7f);
}

static bool spell_bytes(const uint8_t *text, uint32_t bytes, uint8_t *out, uint32_t *n)
{
    *n = 0;
    for (uint32_t i = 0; i < bytes; (*n)++) {
        int length = utf8_check(text + i, bytes - i);
        int byte = -1;

        if (length > 0) {
            byte = byte_of_character(utf8_decode(text + i, length));
        }
        if (byte < 0) {
            return false;
        }
        out[*n] = (uint8_t)byte;
        i += (uint32_t)length;
    }
    return true;
}

static bool is_escaped_space(const uint8_t *p, size_t left)
{
    return left >= 3 && p[0] == 0xe2 && p[1] == 0x96 && p[2] == 0x81; /* U+2581 */
}

static uint32_t spell_spaces(const uint8_t *text, uint32_t bytes, uint8_t *out)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < bytes; n++) {
        if (is_escaped_space(text + i, bytes - i)) {
            out[n] = ' ';
            i += 3;
        } else {
            out[n] = text[i++];
        }
    }
    return n;
}

uint32_t tokenizer_spell(enum ingot_tokenizer_kind kind, const uint8_t *text, uint32_t bytes,
                         uint8_t *out, bool *literal)
{
    uint32_t n;

    *literal = false;
    if (kind != INGOT_TOKENIZER_BPE) {
        return spell_spaces(text, bytes, out);
    }
    if (spell_bytes(text, bytes, out, &n)) {
        return n;
    }
    *literal = true;
    memcpy(out, text, bytes);
    return bytes;
}
