/* Find cancellations of a request that still wait in the ring of a program's input. A cancellation
 * is answered later, in order, like any other request. */
#include <string.h>

#include "runtime/console/console_private.h"
#include "runtime/text/json.h"

enum { LINE_BYTES = 256 /* bytes of a line that cancels a request, with a NUL */ };

static bool is_end(const struct console_input *in, unsigned at)
{
    uint8_t byte = in->ring[at % CONSOLE_RING_BYTES];

    return byte == '\n' || byte == '\r';
}

/* Read the member `cancel` of a line in the ring, [from, end). JSON_END: the line has no such
 * member. */
static enum json_kind read_cancel(const struct console *c, unsigned from, unsigned end,
                                  char line[LINE_BYTES], struct json_value *v)
{
    struct json j;
    size_t n = 0;
    enum json_kind kind;

    if (end - from >= LINE_BYTES) {
        return JSON_END;
    }
    for (; from != end; from++) {
        line[n++] = (char)c->input.ring[from % CONSOLE_RING_BYTES];
    }
    if (!console_frames_check(&c->json.frames, line, &n)) {
        return JSON_END;
    }
    line[n] = '\0';
    json_open(&j, line, n);
    do {
        kind = json_member(&j, v);
        if (kind == JSON_BAD) {
            return JSON_END;
        }
    } while (kind != JSON_END && strcmp(v->key, "cancel") != 0);
    return kind;
}

static bool is_id(const struct json_value *v, const char *id, bool is_text)
{
    return v->kind == (is_text ? JSON_TEXT : JSON_NUMBER) && strcmp(v->text, id) == 0;
}

bool console_line_cancels(const struct console *c)
{
    const struct console_input *in = &c->input;
    unsigned end = in->tail - 1, from = end;
    char line[LINE_BYTES];
    struct json_value v;

    while (from != in->head && end - from < LINE_BYTES && !is_end(in, from - 1)) {
        from--;
    }
    switch (read_cancel(c, from, end, line, &v)) {
    case JSON_TRUE: return true;
    case JSON_TEXT:
    case JSON_NUMBER: return c->json.has_id && is_id(&v, c->json.id, c->json.id_is_text);
    default: return false;
    }
}

bool console_is_cancelled(const struct console *c, const char *id, bool is_text)
{
    const struct console_input *in = &c->input;
    char line[LINE_BYTES];
    struct json_value v;
    unsigned from = in->head;

    for (unsigned at = from; at != in->tail; at++) {
        if (!is_end(in, at)) {
            continue;
        }
        if (read_cancel(c, from, at, line, &v) != JSON_END && v.kind != JSON_TRUE &&
            is_id(&v, id, is_text)) {
            return true;
        }
        from = at + 1;
    }
    return false;
}
