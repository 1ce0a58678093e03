/* The start of the turns of a conversation among its tokens, and what was said: so that the last one
 * can be taken back and the oldest ones can be dropped. No tokens and no cache here. */
#ifndef INGOT_RUNTIME_TURNS_H
#define INGOT_RUNTIME_TURNS_H

#include <stddef.h>
#include <stdint.h>

enum { TURNS_MOST = 64, TURNS_TEXT_BYTES = 32768 };

struct turn {
    uint32_t start; /* index of its first token, the end of the reply before it included */
    uint32_t reply; /* index of its reply's first token */
    uint32_t text;  /* offset in turns.text of what was said, bytes long */
    uint32_t bytes;
};

/* Zeroed: no turn. */
struct turns {
    unsigned n;
    struct turn list[TURNS_MOST]; /* the oldest first */
    char text[TURNS_TEXT_BYTES];
    uint32_t text_bytes;
    /* Bytes at the end of the text of list[i] that are known to be a person's words, said in this conversation since it
     * began here; 0: none are. The words that somebody must have said (chat_act.c) are looked for in them alone. */
    uint32_t said[TURNS_MOST];
    /* The record of list[i] in the turn log, for what is said of the turn later; 0: none of this start. */
    uint64_t logged[TURNS_MOST];
};

/* Add a turn. The oldest are forgotten where there is no room: their tokens then count as the
 * next one's, except that dropping that one drops them. text is at most TURNS_TEXT_BYTES. */
void turns_push(struct turns *t, uint32_t start, uint32_t reply, const char *text, size_t bytes);

/* The last `bytes` bytes of the newest turn's text are a person's words; turns_push has none of it. t->n > 0. */
void turns_mark_said(struct turns *t, size_t bytes);

/* The newest turn has record number n of the turn log; turns_push has none. t->n > 0. */
void turns_mark_logged(struct turns *t, uint64_t n);

/* Forget the records of all turns, which another start wrote. */
void turns_forget_logged(struct turns *t);

/* Forget which words of all turns are a person's. */
void turns_forget_said(struct turns *t);

/* Forget the newest one; t->n > 0. */
void turns_pop(struct turns *t);

/* The oldest `n` <= t->n are gone, and with them tokens: the reply of what is then the first turn
 * moved to `reply`, all after it as far. The first turn starts at 0. */
void turns_drop(struct turns *t, unsigned n, uint32_t reply);

/* Tokens from .. from + n are gone, those after them have moved up. Turns that began before their end
 * are forgotten, but not the last `keep` (0 or 1): what is left of that one begins at `from` at last. */
void turns_cut_out(struct turns *t, uint32_t from, uint32_t n, unsigned keep);

/* If token number i is after that: those that are gone, at `from`. */
uint32_t turns_moved(uint32_t i, uint32_t from, uint32_t n);

#endif
