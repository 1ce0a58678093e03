/* Any text through byte-level BPE: the ids are those of a merge that looks at all pairs every time,
 * and with every pattern of words the text comes back and no control token appears. */
#include <stdlib.h>
#include <string.h>

#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tokenizer/listed_vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { JOINS = 300, MOST_TEXT = 400, MOST_NAIVE = 100, MOST_IDS = 2 * MOST_TEXT };

static struct {
    struct tokenizer t;
    uint8_t *section;
    char joins[JOINS][24];
} bpe;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static bool is_listed(const char *text)
{
    for (uint32_t i = 0; i < listed.source.vocab.n_tokens; i++) {
        if (strlen(text) == listed.tokens[i].bytes &&
            memcmp(listed.tokens[i].text, text, listed.tokens[i].bytes) == 0) {
            return true;
        }
    }
    return false;
}

/* Six letters, then joins of two earlier texts, so that one text has several ways to come about and
 * merges get into each other's way. The list is the same every time. */
static void build(void)
{
    static const char *const letters[] = { "a", "b", "\304\240", "<", "1", "n" };
    uint32_t state = 5;
    uint64_t bytes;

    listed_begin(INGOT_TOKENIZER_BPE, INGOT_PRE_NONE, 0);
    listed_add("<s>", INGOT_TOKEN_CONTROL);
    listed_add("[u]", INGOT_TOKEN_USER);
    for (uint32_t i = 0; i < JOINS; i++) {
        const char *left, *right;

        state = state * 1664525u + 1013904223u;
        left = (state >> 8) % (i + 6) < 6 ? letters[(state >> 8) % 6] : bpe.joins[(state >> 8) % i];
        right = (state >> 16) % (i + 6) < 6 ? letters[(state >> 16) % 6]
                                            : bpe.joins[(state >> 16) % i];
        if (strlen(left) + strlen(right) > 14) {
            left = letters[state % 6];
            right = letters[state / 6 % 6];
        }
        snprintf(bpe.joins[i], sizeof bpe.joins[i], "%s%s", left, right);
        listed_merge(left, right);
        if (!is_listed(bpe.joins[i])) {
            listed_add(bpe.joins[i], INGOT_TOKEN_NORMAL);
        }
    }
    bpe.section = listed_section(&bytes);
    must(bpe.section != NULL);
    tokenizer_open(&bpe.t, bpe.section);
}

static size_t encode(const char *text, size_t bytes, uint32_t *ids)
{
    static _Alignas(8) uint8_t scratch[1 << 16];
    size_t n = 0;

    must(tokenizer_scratch_bytes(bytes) <= sizeof scratch);
    must(tokenizer_encode(&bpe.t, text, bytes, TOKENIZER_PLAIN, ids, MOST_IDS, &n, scratch,
                          tokenizer_scratch_bytes(bytes)) == ERR_OK);
    return n;
}

/* Returns the place of a pair in the list of merges, or JOINS. */
static uint32_t naive_rank(uint32_t left, uint32_t right, uint32_t *id)
{
    const struct tokenizer *t = &bpe.t;

    for (uint32_t i = t->merge_rows[left]; i < t->merge_rows[left + 1]; i++) {
        if (t->merge_entries[i].right == right) {
            *id = t->merge_entries[i].id;
            return t->merge_entries[i].rank;
        }
    }
    return JOINS;
}

static size_t naive_encode(const char *s, size_t n, uint32_t *ids)
{
    for (size_t i = 0; i < n; i++) {
        ids[i] = bpe.t.byte_tokens[(uint8_t)s[i]];
    }
    for (;;) {
        uint32_t best = JOINS;
        uint32_t merged = 0;
        size_t at = 0;

        for (size_t i = 0; i + 1 < n; i++) {
            uint32_t id = 0;
            uint32_t rank = naive_rank(ids[i], ids[i + 1], &id);

            if (rank < best) {
                best = rank;
                merged = id;
                at = i;
            }
        }
        if (best == JOINS) {
            return n;
        }
        ids[at] = merged;
        memmove(&ids[at + 1], &ids[at + 2], (n - at - 2) * sizeof *ids);
        n--;
    }
}

static void check_words(char *text, size_t bytes)
{
    struct ingot_merges *merges = (void *)((struct ingot_tokenizer *)(void *)bpe.section + 1);
    uint32_t ids[MOST_IDS];

    for (uint32_t pre = 0; pre < INGOT_N_PRES; pre++) {
        size_t n, at = 0;

        merges->pre = pre;
        n = encode(text, bytes, ids);
        for (size_t i = 0; i < n; i++) {
            size_t piece_bytes;
            const char *piece = tokenizer_piece(&bpe.t, ids[i], INGOT_NO_TOKEN, &piece_bytes);

            must(tokenizer_type(&bpe.t, ids[i]) != INGOT_TOKEN_CONTROL);
            must(piece_bytes <= bytes - at && memcmp(piece, text + at, piece_bytes) == 0);
            at += piece_bytes;
        }
        must(at == bytes);
    }
    merges->pre = INGOT_PRE_NONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const pieces[] = { "<s>", "[u]", "\xc3\xa9", " ",  "\n",
                                          "'s",  "a",   "b",        "1",  "\xe4\xbd\xa0",
                                          "n",   "<",   "\xcc\x81", "ab", "A" };
    char text[MOST_TEXT + 8];
    uint32_t ids[MOST_IDS], naive[MOST_NAIVE];
    size_t bytes = 0;

    if (bpe.section == NULL) {
        build();
    }
    for (size_t i = 0; i < size && bytes < MOST_TEXT; i++) { /* some bytes stand for pieces */
        const char *piece = pieces[data[i] % (sizeof pieces / sizeof pieces[0])];

        if (data[i] > 0xa0) {
            memcpy(text + bytes, piece, strlen(piece));
            bytes += strlen(piece);
        } else {
            text[bytes++] = (char)data[i];
        }
    }
    check_words(text, bytes);
    bytes = bytes < MOST_NAIVE ? bytes : MOST_NAIVE;
    for (size_t i = 0; i < bytes; i++) {
        text[i] = "ab <1n"[(uint8_t)text[i] % 6];
    }
    must(encode(text, bytes, ids) == naive_encode(text, bytes, naive));
    must(memcmp(ids, naive, naive_encode(text, bytes, naive) * sizeof *ids) == 0);
    return 0;
}
