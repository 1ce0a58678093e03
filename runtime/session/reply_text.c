#include "runtime/session/reply_text.h"

#include <string.h>

enum { N_MARKS = 4 };

/* Marks of thoughts of Qwen3, DeepSeek-R1, Mistral and other models. */
static const char *const opening[N_MARKS] = { "<think>", "<thinking>", "[THINK]", "<thought>" };
static const char *const closing[N_MARKS] = { "</think>", "</thinking>", "[/THINK]", "</thought>" };

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- searched strings ------------------------------------------------------------------------ */

/* Return the longest of the strings with which h ends. */
static size_t find_whole(const struct held_text *h, const char *const *strings, uint32_t n)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = strlen(strings[i]);

        if (bytes > longest && bytes <= h->n &&
            memcmp(h->text + h->n - bytes, strings[i], bytes) == 0) {
            longest = bytes;
        }
    }
    return longest;
}

/* Return how many bytes at the end of h may be the beginning of one of the strings, without being
 * the whole string. */
static size_t find_beginning(const struct held_text *h, const char *const *strings, uint32_t n)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = strlen(strings[i]);

        for (size_t k = longest + 1; k < bytes && k <= h->n; k++) {
            if (memcmp(h->text + h->n - k, strings[i], k) == 0) {
                longest = k;
            }
        }
    }
    return longest;
}

/* Take one more byte. Returns how many bytes of h are certainly text. *whole is set if the rest of
 * h is one of the strings; otherwise the rest may begin one. */
static size_t hold(struct held_text *h, const char *const *strings, uint32_t n, char byte,
                   bool *whole)
{
    size_t kept;

    h->text[h->n++] = byte;
    kept = find_whole(h, strings, n);
    *whole = kept != 0;
    if (kept == 0) {
        kept = find_beginning(h, strings, n);
    }
    return h->n - kept;
}

static void drop(struct held_text *h, size_t bytes)
{
    memmove(h->text, h->text + bytes, h->n - bytes);
    h->n = (uint8_t)(h->n - bytes);
}

/* ---- thoughts ------------------------------------------------------------------------------- */

static void think(struct reply_text *r, bool begins)
{
    utf8_writer_flush(&r->writer); /* a character that a mark interrupts is not shown */
    r->part = begins ? REPLY_THOUGHTS : REPLY_ANSWER;
    if (r->out->think != NULL) {
        r->out->think(r->out->context, begins);
    }
}

/* Write text that is certainly not a mark. */
static void write_decided(struct reply_text *r, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && r->part == REPLY_START; i++) {
        if (!is_space(text[i])) {
            r->part = REPLY_ANSWER;
        }
    }
    utf8_writer_put(&r->writer, text, bytes);
}

static void write_held(struct reply_text *r, size_t bytes)
{
    char text[REPLY_TEXT_STOP_BYTES];

    memcpy(text, r->mark.text, bytes);
    drop(&r->mark, bytes);
    write_decided(r, text, bytes);
}

static void show_byte(struct reply_text *r, char byte)
{
    bool whole, thinks = r->part == REPLY_THOUGHTS;

    if (r->part == REPLY_ANSWER) {
        write_decided(r, &byte, 1);
        return;
    }
    write_held(r, hold(&r->mark, thinks ? closing : opening, N_MARKS, byte, &whole));
    if (r->part == REPLY_ANSWER) { /* the answer has begun, so later marks are text */
        write_held(r, r->mark.n);
    } else if (whole && !thinks) {
        think(r, true);
        write_held(r, r->mark.n);
    } else if (whole) {
        write_held(r, r->mark.n);
        think(r, false);
    }
}

/* ---- the reply ------------------------------------------------------------------------------ */

void reply_text_open(struct reply_text *r, const struct reply_stops *stops, bool inside,
                     const struct reply_text_out *out)
{
    memset(r, 0, sizeof *r);
    r->stops = stops;
    r->out = out;
    r->writer.write = out->write;
    r->writer.context = out->context;
    if (inside) {
        think(r, true);
    }
}

/* Return the index of the stop string that h is. */
static uint32_t find_stop(const struct held_text *h, const struct reply_stops *stops)
{
    uint32_t i = 0;

    while (i < stops->n &&
           (strlen(stops->text[i]) != h->n || memcmp(stops->text[i], h->text, h->n) != 0)) {
        i++;
    }
    return i;
}

void reply_text_put(struct reply_text *r, const char *text, size_t bytes)
{
    bool whole = false;

    for (size_t i = 0; i < bytes && !r->stopped; i++) {
        size_t decided = hold(&r->stop, r->stops->text, r->stops->n, text[i], &whole);

        for (size_t k = 0; k < decided; k++) {
            show_byte(r, r->stop.text[k]);
        }
        drop(&r->stop, decided);
        if (whole) {
            r->stopped = true;
            r->shown = r->bytes + i + 1 - r->stop.n;
            r->which = find_stop(&r->stop, r->stops);
        }
    }
    r->bytes += bytes;
}

bool reply_text_holds(const struct reply_text *r)
{
    return r->stop.n + r->mark.n + r->writer.n_held != 0;
}

void reply_text_end(struct reply_text *r)
{
    for (size_t i = 0; i < r->stop.n && !r->stopped; i++) {
        show_byte(r, r->stop.text[i]);
    }
    r->stop.n = 0;
    write_held(r, r->mark.n);
    if (r->part == REPLY_THOUGHTS) {
        think(r, false);
    }
    utf8_writer_flush(&r->writer);
}

/* Return true if the text ends with one of the marks or, if `whole` is true, is one of the
 * marks. */
static bool ends_with(const char *const *marks, const char *text, size_t bytes, bool whole)
{
    for (unsigned i = 0; i < N_MARKS; i++) {
        size_t n = strlen(marks[i]);

        if (bytes >= n && (!whole || bytes == n) && memcmp(text + bytes - n, marks[i], n) == 0) {
            return true;
        }
    }
    return false;
}

bool reply_text_is_mark(const char *text, size_t bytes)
{
    return ends_with(opening, text, bytes, true) || ends_with(closing, text, bytes, true);
}

bool reply_text_opens(const char *text, size_t bytes)
{
    while (bytes != 0 && is_space(text[bytes - 1])) {
        bytes--;
    }
    return ends_with(opening, text, bytes, false);
}
