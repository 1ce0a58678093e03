#include "host/boards/serve_board_past.h"

/* FNV-1a. */
static const uint64_t basis = 0xcbf29ce484222325, prime = 0x100000001b3;

static uint64_t mix(uint64_t mark, const char *text, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        mark = (mark ^ (uint8_t)text[i]) * prime;
    }
    return mark;
}

/* Between texts, the hash takes a byte that no text contains. */
void board_past_add(struct board_past *p, const char *text, size_t bytes)
{
    if (p->n != BOARD_PAST_MARKS) {
        uint64_t before = p->n != 0 ? p->marks[p->n - 1] : basis;

        p->marks[p->n++] = mix((before ^ 0xff) * prime, text, bytes);
    }
}

static void add(struct board_past *p, const struct api_text *t)
{
    board_past_add(p, api_text_shown(t), t->n);
}

void board_past_of(struct board_past *p, const struct api_request *q)
{
    /* The text before the first turn counts as one text, so it hardly decides the choice of a
     * board. */
    const char *kind = q->kind != API_CHAT ? "t" : q->has_system ? "s" : "c";

    p->marks[0] = mix(mix(basis, kind, 1), api_text_shown(&q->system), q->system.n);
    p->n = 1;
    for (uint32_t i = 0; i < q->n_turns; i++) {
        add(p, q->turns[i].tokens.n != 0 ? &q->turns[i].tokens : &q->turns[i].user);
        if (q->turns[i].replied) {
            add(p, &q->turns[i].reply);
        }
    }
}

uint32_t board_past_shared(const struct board_past *a, const struct board_past *b)
{
    uint32_t n = 0;

    while (n < a->n && n < b->n && a->marks[n] == b->marks[n]) {
        n++;
    }
    return n;
}
