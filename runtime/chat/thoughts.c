#include "runtime/chat/thoughts.h"

#include "runtime/options/options.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

enum { TOKENS_A_DOT = 16 };

void thoughts_open(struct thoughts *t, uint32_t think)
{
    t->hides = think == THINK_HIDE;
    t->dims = !t->hides && think != THINK_SHOW;
}

static void begin(struct thoughts *t)
{
    if (t->hides) {
        t->write(t->context, "(thinking", 9);
    } else if (t->dims) {
        t->dim(t->context, true);
    }
}

static void end(struct thoughts *t)
{
    char count[40];

    if (t->hides) {
        t->skips = true;
        t->write(t->context, count,
                 format_text(count, sizeof count, ": %u %s)\n", (unsigned)t->count,
                             plural((unsigned)t->count, "token", "tokens")));
    } else if (t->dims) {
        t->dim(t->context, false);
    }
}

void thoughts_turn(struct thoughts *t, bool begins)
{
    t->inside = begins;
    if (begins) {
        begin(t);
    } else {
        end(t);
    }
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void thoughts_write(struct thoughts *t, const char *text, size_t bytes)
{
    if (t->inside && t->hides) {
        return;
    }
    while (t->skips && bytes != 0 && is_space(*text)) {
        text++;
        bytes--;
    }
    if (bytes != 0) {
        t->skips = false;
        t->write(t->context, text, bytes);
    }
}

void thoughts_end_token(struct thoughts *t)
{
    if (t->inside && ++t->count % TOKENS_A_DOT == 0 && t->hides) {
        t->write(t->context, ".", 1);
    }
}
