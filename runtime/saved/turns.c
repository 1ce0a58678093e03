#include "runtime/saved/turns.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"

static void forget_oldest(struct turns *t, unsigned n)
{
    uint32_t text = n < t->n ? t->list[n].text : t->text_bytes;

    t->n -= n;
    memmove(t->list, t->list + n, t->n * sizeof t->list[0]);
    memmove(t->said, t->said + n, t->n * sizeof t->said[0]);
    memmove(t->logged, t->logged + n, t->n * sizeof t->logged[0]);
    memmove(t->text, t->text + text, t->text_bytes - text);
    t->text_bytes -= text;
    for (unsigned i = 0; i < t->n; i++) {
        t->list[i].text -= text;
    }
}

void turns_push(struct turns *t, uint32_t start, uint32_t reply, const char *text, size_t bytes)
{
    assert(bytes <= TURNS_TEXT_BYTES);
    while (t->n == TURNS_MOST || t->text_bytes + bytes > TURNS_TEXT_BYTES) {
        forget_oldest(t, 1);
    }
    t->said[t->n] = 0;
    t->logged[t->n] = 0;
    t->list[t->n++] = (struct turn){ start, reply, t->text_bytes, (uint32_t)bytes };
    memcpy(t->text + t->text_bytes, text, bytes);
    t->text_bytes += (uint32_t)bytes;
}

void turns_mark_said(struct turns *t, size_t bytes)
{
    assert(t->n > 0 && bytes <= t->list[t->n - 1].bytes);
    t->said[t->n - 1] = (uint32_t)bytes;
}

void turns_mark_logged(struct turns *t, uint64_t n)
{
    assert(t->n > 0);
    t->logged[t->n - 1] = n;
}

void turns_forget_logged(struct turns *t)
{
    memset(t->logged, 0, sizeof t->logged);
}

void turns_forget_said(struct turns *t)
{
    memset(t->said, 0, sizeof t->said);
}

void turns_pop(struct turns *t)
{
    assert(t->n > 0);
    t->text_bytes = t->list[--t->n].text;
}

void turns_drop(struct turns *t, unsigned n, uint32_t reply)
{
    uint32_t moved;

    assert(n <= t->n);
    forget_oldest(t, n);
    if (t->n == 0) {
        return;
    }
    moved = t->list[0].reply - reply; /* wraps around if the first turn has become longer */
    for (unsigned i = 0; i < t->n; i++) {
        t->list[i].start -= moved;
        t->list[i].reply -= moved;
    }
    t->list[0].start = 0;
}

uint32_t turns_moved(uint32_t i, uint32_t from, uint32_t n)
{
    return i >= from + n ? i - n : min_u32(i, from);
}

void turns_cut_out(struct turns *t, uint32_t from, uint32_t n, unsigned keep)
{
    unsigned gone = 0;

    while (gone + keep < t->n && t->list[gone].start < from + n) {
        gone++;
    }
    forget_oldest(t, gone);
    for (unsigned i = 0; i < t->n; i++) {
        t->list[i].start = turns_moved(t->list[i].start, from, n);
        t->list[i].reply = turns_moved(t->list[i].reply, from, n);
    }
}
