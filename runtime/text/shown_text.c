#include "runtime/text/shown_text.h"

static const struct range {
    uint32_t low, high;
} controls[] = {
    { 0x00, 0x08 },     { 0x0b, 0x1f },     { 0x7f, 0x9f },     { 0x61c, 0x61c },
    { 0x200e, 0x200f }, { 0x202a, 0x202e }, { 0x2066, 0x2069 },
};

bool char_is_control(uint32_t code)
{
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        if (code >= controls[i].low && code <= controls[i].high) {
            return true;
        }
    }
    return false;
}

static void write_replacement(const struct shown_text *t)
{
    t->write(t->context, UTF8_REPLACEMENT, sizeof UTF8_REPLACEMENT - 1);
}

/* Take one whole character, which the UTF-8 writer passes. */
static void take_character(void *context, const char *text, size_t bytes)
{
    struct shown_text *t = context;

    if (t->after_cr && *text != '\n') {
        write_replacement(t);
    }
    t->after_cr = *text == '\r';
    if (t->after_cr) {
        return;
    }
    if (char_is_control(utf8_decode((const uint8_t *)text, (int)bytes))) {
        write_replacement(t);
    } else {
        t->write(t->context, text, bytes);
    }
}

void shown_text_put(struct shown_text *t, const char *text, size_t bytes)
{
    t->utf8.write = take_character;
    t->utf8.context = t; /* set again, because the struct may have moved */
    utf8_writer_put(&t->utf8, text, bytes);
}

void shown_text_flush(struct shown_text *t)
{
    t->utf8.write = take_character;
    t->utf8.context = t;
    utf8_writer_flush(&t->utf8);
    if (t->after_cr) {
        t->after_cr = false;
        write_replacement(t);
    }
}

/* ---- names ---------------------------------------------------------------------------------- */

size_t shown_breaks_name(const char *s)
{
    const uint8_t *b = (const uint8_t *)s;

    if (b[0] == '\n' || b[0] == '\r' || b[0] == '\t') {
        return 1;
    }
    if (b[0] == 0xe2 && b[1] == 0x80) { /* U+200B, U+2028, U+2029 */
        return b[2] == 0x8b || b[2] == 0xa8 || b[2] == 0xa9 ? 3 : 0;
    }
    if (b[0] == 0xe2 && b[1] == 0x81) { /* U+2060 .. U+2064 */
        return b[2] >= 0xa0 && b[2] <= 0xa4 ? 3 : 0;
    }
    return b[0] == 0xef && b[1] == 0xbb && b[2] == 0xbf ? 3 : 0; /* U+FEFF */
}

struct name {
    char *out;
    size_t room, n;
};

static void put_in_name(void *context, const char *text, size_t bytes)
{
    struct name *to = context;

    if (to->n + bytes >= to->room) {
        to->room = to->n + 1; /* later text is not written either */
        return;
    }
    for (size_t i = 0; i < bytes; i++) {
        to->out[to->n++] = text[i];
    }
}

const char *shown_name(char *out, size_t room, const char *name)
{
    struct name to = { .out = out, .room = room };
    struct shown_text shown = { .write = put_in_name, .context = &to };

    while (*name != '\0') {
        size_t n = shown_breaks_name(name);

        if (n != 0) {
            shown_text_flush(&shown);
            put_in_name(&to, UTF8_REPLACEMENT, sizeof UTF8_REPLACEMENT - 1);
        } else {
            shown_text_put(&shown, name, 1);
        }
        name += n != 0 ? n : 1;
    }
    shown_text_flush(&shown);
    out[to.n] = '\0';
    return out;
}
