/* The turns of a conversation: where each begins in the tokens, and its text. The last turn can be
 * taken back, and the oldest turns can be dropped. This code handles neither
 * tokens nor the cache. */
#ifndef INGOT_RUNTIME_TURNS_H
#define INGOT_RUNTIME_TURNS_H

#include <stddef.h>
#include <stdint.h>

enum { TURNS_MOST = 64, TURNS_TEXT_BYTES = 32768 };

struct turn {
    uint32_t start; /* index of the first token, which may end the previous reply */
    uint32_t reply; /* index of the reply's first token */
    uint32_t text;  /* the turn's text: offset and length in turns.text */
    uint32_t bytes;
};

/* All zeros: no turn. */
struct turns {
    unsigned n;
    struct turn list[TURNS_MOST]; /* the oldest first */
    char text[TURNS_TEXT_BYTES];
    uint32_t text_bytes;
    /* How many bytes at the end of list[i]'s text are certainly a person's words that were said
     * here, in this conversation; 0 if none. Words that a person must have said are searched for
     * only in these bytes (chat_act.c). */
    uint32_t said[TURNS_MOST];
    /* The record number of list[i] in the turn log, for later judgements of the turn; 0: no record
     * since the start. */
    uint64_t logged[TURNS_MOST];
};

/* Add a turn. If there is no room, the oldest turns are forgotten: their tokens then belong to the
 * next turn, and are dropped with it. text has at most TURNS_TEXT_BYTES. */
void turns_push(struct turns *t, uint32_t start, uint32_t reply, const char *text, size_t bytes);

/* Mark the last `bytes` bytes of the newest turn's text as a person's words; after turns_push no
 * bytes are marked. t->n > 0. */
void turns_mark_said(struct turns *t, size_t bytes);

/* Note that the newest turn has record number n in the turn log; after turns_push it has no record.
 * t->n > 0. */
void turns_mark_logged(struct turns *t, uint64_t n);

/* Forget the records of all turns, because another start wrote them. */
void turns_forget_logged(struct turns *t);

/* Forget which words of the turns a person said. */
void turns_forget_said(struct turns *t);

/* Forget the newest turn; t->n > 0. */
void turns_pop(struct turns *t);

/* Call after the oldest `n` <= t->n turns and their tokens were dropped. The reply of the new first
 * turn has moved to `reply`, and everything after it has moved by the same distance. The first turn
 * starts at 0. */
void turns_drop(struct turns *t, unsigned n, uint32_t reply);

/* Call after the n tokens at `from` were removed, and later tokens moved into the gap. Turns that
 * began before the end of the gap are forgotten, except the last `keep` (0 or 1) turns: the rest of
 * such a turn begins at `from` or before. */
void turns_cut_out(struct turns *t, uint32_t from, uint32_t n, unsigned keep);

/* Return the new index of token number i after turns_cut_out; for a dropped token: `from`. */
uint32_t turns_moved(uint32_t i, uint32_t from, uint32_t n);

#endif
