#include "runtime/console/line_history.h"

#include <string.h>

static size_t entry_bytes(const struct line_history *h, size_t at)
{
    return strlen(h->text + at) + 1;
}

/* Return the start of the line that ends at `end`, where the next line begins. end > 0. */
static size_t entry_before(const struct line_history *h, size_t end)
{
    size_t last = 0;

    for (size_t at = 0; at < end; at += entry_bytes(h, at)) {
        last = at;
    }
    return last;
}

static bool is_latest(const struct line_history *h, const char *line)
{
    return h->bytes != 0 && strcmp(h->text + entry_before(h, h->bytes), line) == 0;
}

static void forget_oldest(struct line_history *h)
{
    size_t oldest = entry_bytes(h, 0);

    memmove(h->text, h->text + oldest, h->bytes - oldest);
    h->bytes -= oldest;
}

/* Append a line, for which there is room once older ones are dropped. */
static void append(struct line_history *h, const char *line, size_t n)
{
    while (h->bytes + n + 1 > sizeof h->text) {
        forget_oldest(h);
    }
    memcpy(h->text + h->bytes, line, n);
    h->bytes += n;
    h->text[h->bytes++] = '\0';
}

/* Return where the line being typed is, or would be. */
static size_t typed_at(const struct line_history *h)
{
    return h->has_typed ? entry_before(h, h->bytes) : h->bytes;
}

/* Forget the line being typed, which may be secret. */
static void drop_typed(struct line_history *h)
{
    size_t at = typed_at(h);

    memset(h->text + at, 0, h->bytes - at);
    h->bytes = at;
    h->has_typed = false;
}

/* Keep the line being typed. Returns false if it is longer than the whole room. */
static bool keep_typed(struct line_history *h, const char *typed, size_t n)
{
    drop_typed(h);
    h->shown = h->bytes;
    if (n >= sizeof h->text) {
        return false;
    }
    if (n != 0) {
        append(h, typed, n);
        h->has_typed = true;
        h->shown = typed_at(h);
    }
    return true;
}

void line_history_add(struct line_history *h, const char *line, size_t n)
{
    drop_typed(h);
    if (n != 0 && n < sizeof h->text && !is_latest(h, line)) {
        append(h, line, n);
    }
}

void line_history_clear(struct line_history *h)
{
    memset(h, 0, sizeof *h);
}

void line_history_rewind(struct line_history *h)
{
    drop_typed(h);
    h->shown = h->bytes;
}

const char *line_history_older(struct line_history *h, const char *typed, size_t n)
{
    if ((h->shown == typed_at(h) && !keep_typed(h, typed, n)) || h->shown == 0) {
        return NULL;
    }
    h->shown = entry_before(h, h->shown);
    return h->text + h->shown;
}

const char *line_history_newer(struct line_history *h)
{
    if (h->shown == typed_at(h)) {
        return NULL;
    }
    h->shown += entry_bytes(h, h->shown);
    return h->shown == h->bytes ? "" : h->text + h->shown;
}
