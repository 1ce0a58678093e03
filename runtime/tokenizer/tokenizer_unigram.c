/* Unigram: find the way to split a run into tokens that has the largest sum of scores, by
 * Viterbi's algorithm from left to right. If two ways to a position have equal sums, the way that
 * was found first stays; its last token is longer, as in SentencePiece. Sums are binary64 and are
 * always added in the same order, so that all machines split alike. */
#include "runtime/text/utf8.h"
#include "runtime/tokenizer/tokenizer_encode.h"

enum { NOWHERE = 0xffffffff };

/* Return the length of the character at s (n >= 1); a byte that is not UTF-8 counts as a
 * character. */
static uint32_t character_bytes(const char *s, size_t n)
{
    int bytes = utf8_check((const uint8_t *)s, n);

    if (bytes <= 0) {
        return 1;
    }
    return (uint32_t)bytes;
}

/* Offer a way to `end` by this piece; it stays if it is better than the known way. e->prev
 * is where the piece begins. */
static void offer(struct encoder *e, uint32_t start, uint32_t end, uint32_t id, double score)
{
    double sum = e->best[start] + score;

    if (e->prev[end] != NOWHERE && sum <= e->best[end]) {
        return;
    }
    e->best[end] = sum;
    e->prev[end] = start;
    e->id[end] = id;
}

/* Offer every token that begins at `start`, and a substitute for the character there if no token
 * equals it. */
static void offer_pieces(struct encoder *e, const char *s, uint32_t start, uint32_t n)
{
    struct prefix p = { 0, e->t->head->n_sorted, 0 };
    uint32_t character = character_bytes(s + start, n - start), id;
    bool alone = false;

    while (tokenizer_next_prefix(e->t, s + start, n - start, &p, &id)) {
        alone = alone || p.depth == character;
        offer(e, start, start + (uint32_t)p.depth, id, (double)e->t->scores[id]);
    }
    if (!alone) {
        offer(e, start, start + character, INGOT_NO_TOKEN, e->t->unknown_score);
    }
}

/* Reverse the way that ends at n, so that e->next leads along it from 0. */
static void turn_round(struct encoder *e, uint32_t n)
{
    for (uint32_t end = n; end != 0; end = e->prev[end]) {
        e->next[e->prev[end]] = end;
    }
}

enum err tokenizer_unigram_run(struct encoder *e, const char *s, uint32_t n)
{
    enum err err = ERR_OK;

    for (uint32_t i = 1; i <= n; i++) {
        e->prev[i] = NOWHERE;
    }
    e->best[0] = 0.0;
    for (uint32_t start = 0; start < n; start += character_bytes(s + start, n - start)) {
        offer_pieces(e, s, start, n);
    }
    turn_round(e, n);
    for (uint32_t start = 0; err == ERR_OK && start < n; start = e->next[start]) {
        uint32_t end = e->next[start];

        err = tokenizer_emit_piece(e, e->id[end], s + start, end - start);
    }
    return err;
}
