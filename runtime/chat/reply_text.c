#include "runtime/chat/reply_text.h"

#include <string.h>

#include "runtime/text/format_text.h"

enum { N_MARKS = 4, TOKENS_A_DOT = 16 };

/* Qwen3, DeepSeek-R1 and what was distilled of it; Mistral; others. */
static const char *const opening[N_MARKS] = { "<think>", "<thinking>", "[THINK]", "<thought>" };
static const char *const closing[N_MARKS] = { "</think>", "</thinking>", "[/THINK]", "</thought>" };

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* ---- strings looked for --------------------------------------------------------------------- */

/* The longest of the strings that h ends with (whole), or how many of its bytes at its end may be
 * the beginning of one (not whole); 0: none. */
static size_t find_end(const struct held_text *h, const char *const *strings, uint32_t n,
                       bool whole)
{
    size_t longest = 0;

    for (uint32_t i = 0; i < n; i++) {
        size_t bytes = strlen(strings[i]), most = whole || bytes <= h->n ? bytes : h->n + 1u;

        for (size_t k = whole ? bytes : most - 1; k > longest && k <= h->n; k--) {
            if (memcmp(h->text + h->n - k, strings[i], k) == 0) {
                longest = k;
            } else if (whole) {
                break;
            }
        }
    }
    return longest;
}

/* One more byte. Returns how many bytes of h are decided: they are text. *whole: the rest of h is
 * one of the strings, else it may be the beginning of one. */
static size_t hold(struct held_text *h, const char *const *strings, uint32_t n, char byte,
                   bool *whole)
{
    size_t kept;

    h->text[h->n++] = byte;
    kept = find_end(h, strings, n, true);
    *whole = kept != 0;
    return h->n - (kept != 0 ? kept : find_end(h, strings, n, false));
}

static void drop(struct held_text *h, size_t bytes)
{
    memmove(h->text, h->text + bytes, h->n - bytes);
    h->n = (uint8_t)(h->n - bytes);
}

/* ---- thoughts ------------------------------------------------------------------------------- */

static void begin_thoughts(struct reply_text *r)
{
    r->part = REPLY_THOUGHTS;
    if (r->hides) {
        utf8_writer_put(&r->writer, "(thinking", 9);
    } else if (r->options->think != THINK_SHOW) {
        r->dim(true);
    }
}

static void end_thoughts(struct reply_text *r)
{
    char count[40];

    utf8_writer_flush(&r->writer);
    r->part = r->hides ? REPLY_BEHIND_THOUGHTS : REPLY_ANSWER;
    if (r->hides) {
        utf8_writer_put(&r->writer, count,
                        format_text(count, sizeof count, ": %u tokens)\n", (unsigned)r->thoughts));
    } else if (r->options->think != THINK_SHOW) {
        r->dim(false);
    }
}

/* Text that is no mark. */
static void write_decided(struct reply_text *r, const char *text, size_t bytes)
{
    for (; bytes != 0 && r->part == REPLY_BEHIND_THOUGHTS && is_space(*text); bytes--) {
        text++;
    }
    if (bytes == 0 || (r->hides && r->part == REPLY_THOUGHTS)) {
        return;
    }
    for (size_t i = 0; i < bytes && r->part == REPLY_START; i++) {
        r->part = is_space(text[i]) ? REPLY_START : REPLY_ANSWER;
    }
    r->part = r->part == REPLY_BEHIND_THOUGHTS ? REPLY_ANSWER : r->part;
    utf8_writer_put(&r->writer, text, bytes);
}

static void write_held(struct reply_text *r, size_t bytes)
{
    char text[OPTIONS_STOP_BYTES];

    memcpy(text, r->mark.text, bytes);
    drop(&r->mark, bytes);
    write_decided(r, text, bytes);
}

static void show_byte(struct reply_text *r, char byte)
{
    bool whole, thinks = r->part == REPLY_THOUGHTS;

    if (r->part == REPLY_ANSWER || r->part == REPLY_BEHIND_THOUGHTS) {
        write_decided(r, &byte, 1);
        return;
    }
    write_held(r, hold(&r->mark, thinks ? closing : opening, N_MARKS, byte, &whole));
    if (r->part == REPLY_ANSWER) { /* it began with something else */
        write_held(r, r->mark.n);
    } else if (whole && !thinks) {
        begin_thoughts(r);
        write_held(r, r->mark.n);
    } else if (whole) {
        write_held(r, r->mark.n);
        end_thoughts(r);
    }
}

/* ---- the reply ------------------------------------------------------------------------------ */

void reply_text_open(struct reply_text *r, const struct options *options, bool inside,
                     void (*write)(void *context, const char *text, size_t bytes),
                     void (*dim)(bool on))
{
    memset(r, 0, sizeof *r);
    r->options = options;
    r->writer.write = write;
    r->dim = dim;
    r->hides = options->think == THINK_HIDE;
    if (inside) {
        begin_thoughts(r);
    }
}

void reply_text_put(struct reply_text *r, const char *text, size_t bytes)
{
    const char *stops[OPTIONS_STOPS];
    bool whole = false;

    for (uint32_t i = 0; i < r->options->n_stops; i++) {
        stops[i] = r->options->stop[i];
    }
    for (size_t i = 0; i < bytes && !r->stopped; i++) {
        size_t decided = hold(&r->stop, stops, r->options->n_stops, text[i], &whole);

        for (size_t k = 0; k < decided; k++) {
            show_byte(r, r->stop.text[k]);
        }
        drop(&r->stop, decided);
        if (whole) {
            r->stopped = true;
            r->shown = r->bytes + i + 1 - r->stop.n;
        }
    }
    r->bytes += bytes;
    if (r->part == REPLY_THOUGHTS && ++r->thoughts % TOKENS_A_DOT == 0 && r->hides) {
        utf8_writer_put(&r->writer, ".", 1);
    }
}

void reply_text_end(struct reply_text *r)
{
    for (size_t i = 0; i < r->stop.n && !r->stopped; i++) {
        show_byte(r, r->stop.text[i]);
    }
    r->stop.n = 0;
    write_held(r, r->mark.n);
    if (r->part == REPLY_THOUGHTS) {
        end_thoughts(r);
    }
    utf8_writer_flush(&r->writer);
}

/* Whether the text ends with one of the marks, or is it. */
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
