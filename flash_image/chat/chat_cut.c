#include "flash_image/chat/chat_cut.h"

#include <ctype.h>

enum { MOST_MARKER = 64 }; /* the longest text of a control token that is kept whole */

struct jinja_text chat_part(struct jinja_text t, size_t from, size_t to)
{
    return (struct jinja_text){ t.data + from, to - from };
}

bool chat_begins_with(struct jinja_text t, struct jinja_text with)
{
    return with.bytes <= t.bytes && jinja_text_equal(chat_part(t, 0, with.bytes), with);
}

bool chat_ends_with(struct jinja_text t, struct jinja_text with)
{
    return with.bytes <= t.bytes &&
           jinja_text_equal(chat_part(t, t.bytes - with.bytes, t.bytes), with);
}

struct jinja_text chat_without_head(struct jinja_text t, struct jinja_text head)
{
    return chat_part(t, head.bytes, t.bytes);
}

struct jinja_text chat_without_tail(struct jinja_text t, struct jinja_text tail)
{
    return chat_part(t, 0, t.bytes - tail.bytes);
}

size_t chat_common_head(struct jinja_text a, struct jinja_text b)
{
    size_t n = 0;

    while (n < a.bytes && n < b.bytes && a.data[n] == b.data[n]) {
        n++;
    }
    return n;
}

size_t chat_common_tail(struct jinja_text a, struct jinja_text b)
{
    size_t n = 0;

    while (n < a.bytes && n < b.bytes && a.data[a.bytes - 1 - n] == b.data[b.bytes - 1 - n]) {
        n++;
    }
    return n;
}

size_t chat_marker_around(struct jinja_text t, size_t n, size_t *end)
{
    static const char pairs[2][2] = { { '<', '>' }, { '[', ']' } };

    *end = n;
    for (size_t k = 0; k < 2; k++) {
        size_t start = n, stop = n;

        while (start > 0 && n - start < MOST_MARKER && t.data[start - 1] != pairs[k][0] &&
               t.data[start - 1] != pairs[k][1] && t.data[start - 1] != '\n') {
            start--;
        }
        while (stop < t.bytes && stop - n < MOST_MARKER && t.data[stop] != pairs[k][1] &&
               t.data[stop] != pairs[k][0] && t.data[stop] != '\n') {
            stop++;
        }
        if (start > 0 && t.data[start - 1] == pairs[k][0] && stop < t.bytes &&
            t.data[stop] == pairs[k][1]) {
            *end = stop + 1;
            return start - 1;
        }
    }
    return n;
}

static bool is_inside_word(struct jinja_text t, size_t n)
{
    return n > 0 && n < t.bytes &&
           ((isalnum((unsigned char)t.data[n - 1]) && isalnum((unsigned char)t.data[n])) ||
            (t.data[n] & 0xc0) == 0x80);
}

size_t chat_whole_head(struct jinja_text t, size_t n)
{
    size_t end;

    while (is_inside_word(t, n)) {
        n--;
    }
    return chat_marker_around(t, n, &end);
}

size_t chat_whole_tail(struct jinja_text t, size_t n)
{
    size_t at = t.bytes - n, end;

    while (is_inside_word(t, at)) {
        at++;
    }
    (void)chat_marker_around(t, at, &end);
    return t.bytes - end;
}
