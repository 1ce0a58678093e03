#include "runtime/text/hidden_tags.h"

#include <string.h>

enum state { OUTSIDE, NAME, BODY };

static const char begin_mark[] = "<|mem_", end_mark[] = "<|mem_end|>";
enum { BEGIN_BYTES = sizeof begin_mark - 1, END_BYTES = sizeof end_mark - 1 };

static void show(struct hidden_tags *t, const char *text, size_t bytes)
{
    if (bytes != 0) {
        t->write(t->context, text, bytes);
    }
}

static void tell(const struct hidden_tags *t, bool stores, bool cut)
{
    struct hidden_tag tag = { stores, cut, t->body, t->body_bytes };

    if (t->tag != NULL) {
        t->tag(t->context, &tag);
    }
}

static bool is_named(const struct hidden_tags *t, const char *name)
{
    return t->name_bytes == strlen(name) && memcmp(t->name, name, t->name_bytes) == 0;
}

static void end_body(struct hidden_tags *t)
{
    tell(t, is_named(t, "store"), false);
    t->state = OUTSIDE;
    t->matched = 0;
}

/* ---- its bytes ------------------------------------------------------------------------------ */

/* Return how much of a mark has come, including c. A mark has its first character only once, so
 * after a mismatch only c itself can begin the mark again. */
static uint8_t match(const char *mark, uint8_t matched, char c)
{
    if (mark[matched] == c) {
        return (uint8_t)(matched + 1);
    }
    return mark[0] == c;
}

static void put_body(struct hidden_tags *t, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes && t->body_bytes <= sizeof t->body; i++) {
        if (t->body_bytes < sizeof t->body) {
            t->body[t->body_bytes] = text[i];
        }
        t->body_bytes++;
    }
}

static void take_body(struct hidden_tags *t, char c)
{
    uint8_t before = t->matched;

    t->matched = match(end_mark, before, c);
    if (t->matched == END_BYTES) {
        end_body(t);
        return;
    }
    if (t->matched <= before) {
        put_body(t, end_mark, t->matched == 0 ? before : before + 1u - t->matched);
        if (t->matched == 0 && c != '\n') {
            put_body(t, &c, 1);
        }
    }
    if (c == '\n') {
        end_body(t);
        show(t, "\n", 1);
    }
}

static void end_name(struct hidden_tags *t)
{
    bool has_body = is_named(t, "store") || is_named(t, "forget");

    t->state = has_body ? BODY : OUTSIDE;
    t->body_bytes = 0;
    t->matched = 0;
}

/* Not a tag after all: emit the bytes held back as text. */
static void give_back_name(struct hidden_tags *t)
{
    show(t, begin_mark, BEGIN_BYTES);
    show(t, t->name, t->name_bytes);
    show(t, "|", t->matched);
    t->state = OUTSIDE;
    t->matched = 0;
}

/* Take a character of the tag's name. Return false if c does not belong to the name. */
static bool take_name(struct hidden_tags *t, char c)
{
    if (t->matched == 1 && c == '>') {
        end_name(t);
    } else if (t->matched == 0 && c == '|' && t->name_bytes != 0) {
        t->matched = 1;
    } else if (t->matched == 0 && ((c >= 'a' && c <= 'z') || c == '_') &&
               t->name_bytes < sizeof t->name) {
        t->name[t->name_bytes++] = c;
    } else {
        give_back_name(t);
        return false;
    }
    return true;
}

/* Take text up to the first byte that may begin a tag; returns the number of bytes. */
static size_t take_text(struct hidden_tags *t, const char *text, size_t bytes)
{
    uint8_t before = t->matched;
    size_t n = 0;

    if (before == 0) {
        while (n < bytes && text[n] != begin_mark[0]) {
            n++;
        }
        show(t, text, n);
        if (n == bytes) {
            return n;
        }
    }
    t->matched = match(begin_mark, before, text[n]);
    if (t->matched == BEGIN_BYTES) {
        t->state = NAME;
        t->matched = 0;
        t->name_bytes = 0;
    } else if (t->matched <= before) {
        show(t, begin_mark, before);
        return t->matched == 0 ? n : n + 1; /* examine the byte again, as text */
    }
    return n + 1;
}

void hidden_tags_write(struct hidden_tags *t, const char *text, size_t bytes)
{
    while (bytes != 0) {
        size_t n = 1;

        if (t->state == OUTSIDE) {
            n = take_text(t, text, bytes);
        } else if (t->state == BODY) {
            take_body(t, *text);
        } else if (!take_name(t, *text)) {
            n = 0;
        }
        text += n;
        bytes -= n;
    }
}

void hidden_tags_end(struct hidden_tags *t)
{
    if (t->state == OUTSIDE) {
        show(t, begin_mark, t->matched);
    } else {
        tell(t, false, true);
    }
    t->state = OUTSIDE;
    t->matched = 0;
}
