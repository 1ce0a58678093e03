#include "runtime/console/line_history.h"

#include <stdbool.h>
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

void line_history_add(struct line_history *h, const char *line, size_t n)
{
    size_t bytes = n + 1;

    if (n == 0 || bytes > sizeof h->text || is_latest(h, line)) {
        return;
    }
    while (h->bytes + bytes > sizeof h->text) {
        forget_oldest(h);
    }
    memcpy(h->text + h->bytes, line, bytes);
    h->bytes += bytes;
}

void line_history_clear(struct line_history *h)
{
    memset(h, 0, sizeof *h);
}

void line_history_rewind(struct line_history *h)
{
    h->shown = h->bytes;
}

const char *line_history_older(struct line_history *h)
{
    if (h->shown == 0) {
        return NULL;
    }
    h->shown = entry_before(h, h->shown);
    return h->text + h->shown;
}

const char *line_history_newer(struct line_history *h)
{
    if (h->shown == h->bytes) {
        return NULL;
    }
    h->shown += entry_bytes(h, h->shown);
    if (h->shown == h->bytes) {
        return "";
    }
    return h->text + h->shown;
}
