#include "runtime/text/utf8.h"

const char utf16_cure[] = "is in UTF-16, by its first two bytes: save it as UTF-8";

bool utf16_has_mark(const void *text, size_t bytes)
{
    const uint8_t *b = text;

    return bytes >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff));
}

/* Return the length of a character that starts with `lead`, or 0 if no character does. */
static int length_of(uint8_t lead)
{
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xc2 || lead > 0xf4) { /* continuation, overlong C0 and C1, beyond U+10FFFF */
        return 0;
    }
    return 2 + (lead >= 0xe0) + (lead >= 0xf0);
}

/* Return true if a second byte fits: its limits exclude overlong forms, surrogates and code points
 * beyond U+10FFFF. */
static bool second_fits(uint8_t lead, uint8_t second)
{
    switch (lead) {
    case 0xe0: return second >= 0xa0 && second <= 0xbf;
    case 0xed: return second >= 0x80 && second <= 0x9f;
    case 0xf0: return second >= 0x90 && second <= 0xbf;
    case 0xf4: return second >= 0x80 && second <= 0x8f;
    default: return second >= 0x80 && second <= 0xbf;
    }
}

int utf8_check(const uint8_t *s, size_t n)
{
    int length = length_of(s[0]);

    if (length == 0) {
        return -1;
    }
    if (length > 1 && n > 1 && !second_fits(s[0], s[1])) {
        return -1;
    }
    for (size_t i = 1; i < (size_t)length; i++) {
        if (i == n) {
            return 0;
        }
        if ((s[i] & 0xc0) != 0x80) {
            return -1;
        }
    }
    return length;
}

size_t utf8_whole_bytes(const void *text, size_t n)
{
    const uint8_t *s = text;
    size_t at = 0;

    while (at < n) {
        int bytes = utf8_check(s + at, n - at);

        if (bytes < 1) {
            break;
        }
        at += (size_t)bytes;
    }
    return at;
}

uint32_t utf8_decode(const uint8_t *s, int bytes)
{
    uint32_t code = s[0];

    if (bytes > 1) {
        code &= 0x7fu >> bytes;
    }
    for (int i = 1; i < bytes; i++) {
        code = code << 6 | (s[i] & 0x3fu);
    }
    return code;
}

size_t utf8_encode(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

static void write_replacement(struct utf8_writer *w)
{
    w->write(w->context, UTF8_REPLACEMENT, 3);
    w->n_held = 0;
}

/* Before this byte, held[] was valid or a valid beginning, so only the new byte can be wrong. */
static void put_byte(struct utf8_writer *w, uint8_t byte)
{
    int check;

    w->held[w->n_held++] = byte;
    check = utf8_check(w->held, w->n_held);
    if (check < 0 && w->n_held > 1) {
        write_replacement(w);
        w->held[w->n_held++] = byte;
        check = utf8_check(w->held, w->n_held);
    }
    if (check < 0) {
        write_replacement(w);
    } else if (check > 0) {
        w->write(w->context, (const char *)w->held, w->n_held);
        w->n_held = 0;
    }
}

void utf8_writer_put(struct utf8_writer *w, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        put_byte(w, (uint8_t)text[i]);
    }
}

void utf8_writer_flush(struct utf8_writer *w)
{
    if (w->n_held > 0) {
        write_replacement(w);
    }
}
