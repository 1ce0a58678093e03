/* Convert ids to text. */
#include <string.h>

#include "runtime/tokenizer/tokenizer.h"

/* Return the value of a hexadecimal digit, or -1. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return -1;
}

/* Return the byte that token id stands for, if its name is <0xXX>; otherwise -1. */
static int byte_value(const struct tokenizer *t, uint32_t id)
{
    const char *text = tokenizer_text(t, id);
    size_t bytes = tokenizer_text_bytes(t, id);

    if (tokenizer_type(t, id) != INGOT_TOKEN_BYTE || bytes != 6 || memcmp(text, "<0x", 3) != 0 ||
        text[5] != '>' || digit_value(text[3]) < 0 || digit_value(text[4]) < 0) {
        return -1;
    }
    return digit_value(text[3]) * 16 + digit_value(text[4]);
}

const char *tokenizer_piece(const struct tokenizer *t, uint32_t id, uint32_t previous,
                            size_t *bytes)
{
    const char *text;
    int byte;

    *bytes = 0;
    if (id >= t->head->n_tokens || tokenizer_type(t, id) == INGOT_TOKEN_CONTROL ||
        tokenizer_type(t, id) == INGOT_TOKEN_UNUSED) {
        return "";
    }
    text = tokenizer_text(t, id);
    *bytes = tokenizer_text_bytes(t, id);
    byte = byte_value(t, id);
    if (byte >= 0) {
        *bytes = 1;
        return (const char *)&t->bytes[byte];
    }
    if (previous != INGOT_NO_TOKEN && previous == t->head->bos && *bytes > 0 && text[0] == ' ' &&
        (t->head->flags & INGOT_ADD_SPACE_PREFIX)) {
        *bytes -= 1;
        return text + 1;
    }
    return text;
}
