/* Any text, as parts with and without trust: the ids are those of a merge that searches all pairs
 * every time, a user's text makes no control token, and encoded text decodes to itself. */
#include <stdlib.h>
#include <string.h>

#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tokenizer/vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 200, MOST_TEXT = 2000, MOST_IDS = 4 * MOST_TEXT, MOST_NAIVE = 120 };

static struct {
    struct tokenizer t;
    uint8_t *section;
} vocabularies[2]; /* [0] every byte, no space in front; [1] half of them, and one */

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Ten letters, then joins of two earlier pieces, with few different scores, so that ties and chains
 * of merges are common. The list is the same every time. */
static void add_pieces(struct vocabulary *v, uint32_t first)
{
    static const char *const letter[] = { "a", "b", " ", "a", "b", ">", "[", "\xc3\xbc", "e", "n" };
    uint32_t state = 7;

    for (uint32_t i = 0; i < PIECES; i++) {
        const char *left = letter[i % 10]; /* of equal pieces the first counts */
        const char *right = "";
        char text[64];

        state = state * 1664525u + 1013904223u;
        if (i >= 10) {
            left = v->token[first + (state >> 8) % i].text;
            right = v->token[first + (state >> 16) % i].text;
        }
        if (strlen(left) + strlen(right) > 12) {
            right = "";
        }
        snprintf(text, sizeof text, "%s%s", left, right);
        vocabulary_set(v, first + i, text, strlen(text), -(float)(state >> 28), INGOT_TOKEN_NORMAL);
    }
}

static void build(unsigned which)
{
    static const char *const special[] = { "<unk>", "<s>", "<|end|>", "<|e", "[a]", "[a]b" };
    struct vocabulary v = { .n = 6 + 256 + PIECES,
                            .bos = 1,
                            .eos = 2,
                            .unk = 0,
                            .flags = which == 0 ? 0 : INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX };
    size_t bytes;

    v.token = test_alloc(v.n * sizeof *v.token);
    for (uint32_t i = 0; i < 6; i++) {
        vocabulary_set(&v, i, special[i], strlen(special[i]), 0,
                       i == 0  ? INGOT_TOKEN_UNKNOWN
                       : i < 4 ? INGOT_TOKEN_CONTROL
                               : INGOT_TOKEN_USER);
    }
    for (uint32_t i = 0; i < 256; i++) {
        char text[8];

        snprintf(text, sizeof text, "<0x%02X>", i);
        vocabulary_set(&v, 6 + i, text, 6, 0,
                       which == 0 || i % 2 == 0 ? INGOT_TOKEN_BYTE : INGOT_TOKEN_UNUSED);
    }
    add_pieces(&v, 6 + 256);
    vocabularies[which].section = vocabulary_section(&v, &bytes);
    tokenizer_open(&vocabularies[which].t, vocabularies[which].section);
    vocabulary_free(&v);
}

/* Bytes above 0xa0 stand for pieces that matter. */
static size_t make_text(char *text, const uint8_t *data, size_t size)
{
    static const char *const piece[] = { "<|end|>",  "<s>", "[a]", "[a]b", "\xe2\x96\x81",
                                         "\xc3\xbc", " ",   "a",   "b",    "ab",
                                         "<",        "en",  "|",   ">" };
    size_t at = 0;

    for (size_t i = 0; i < size && at + 8 < MOST_TEXT; i++) {
        if (data[i] > 0xa0) {
            const char *p = piece[data[i] % (sizeof piece / sizeof piece[0])];

            memcpy(text + at, p, strlen(p));
            at += strlen(p);
        } else {
            text[at++] = (char)data[i];
        }
    }
    return at;
}

static size_t encode(const struct tokenizer *t, const struct tokenizer_part *parts, size_t n,
                     unsigned flags, uint32_t *ids)
{
    size_t total = 0;
    size_t n_ids;
    void *scratch;

    for (size_t i = 0; i < n; i++) {
        total += parts[i].bytes;
    }
    scratch = test_alloc(tokenizer_scratch_bytes(total));
    must(tokenizer_encode_parts(t, parts, n, flags, ids, MOST_IDS, &n_ids, scratch,
                                tokenizer_scratch_bytes(total)) == ERR_OK);
    free(scratch);
    for (size_t i = 0; i < n_ids; i++) {
        must(ids[i] < t->head->n_tokens);
    }
    return n_ids;
}

/* Finds the id of a NORMAL token by looking at all of them. */
static uint32_t naive_find(const struct tokenizer *t, const char *s, size_t n)
{
    for (uint32_t id = 0; id < t->head->n_tokens; id++) {
        if (t->types[id] == INGOT_TOKEN_NORMAL && tokenizer_text_bytes(t, id) == n &&
            memcmp(tokenizer_text(t, id), s, n) == 0) {
            return id;
        }
    }
    return INGOT_NO_TOKEN;
}

/* Vocabulary 0 has no special tokens: merge the best pair until there is none. */
static size_t naive_encode(const struct tokenizer *t, const char *s, size_t n, uint32_t *ids)
{
    size_t start[MOST_NAIVE + 1];
    size_t pieces = 0;
    size_t n_ids = 0;

    for (size_t i = 0; i < n;) {
        int bytes = utf8_check((const uint8_t *)s + i, n - i);

        start[pieces++] = i;
        i += bytes > 0 ? (size_t)bytes : 1;
    }
    start[pieces] = n;
    for (;;) {
        size_t best = pieces;
        float score = 0;

        for (size_t i = 0; i + 1 < pieces; i++) {
            uint32_t id = naive_find(t, s + start[i], start[i + 2] - start[i]);

            if (id != INGOT_NO_TOKEN && (best == pieces || t->scores[id] > score)) {
                best = i;
                score = t->scores[id];
            }
        }
        if (best == pieces) {
            break;
        }
        memmove(&start[best + 1], &start[best + 2], (pieces - best - 1) * sizeof start[0]);
        pieces--;
    }
    for (size_t i = 0; i < pieces; i++) {
        uint32_t id = naive_find(t, s + start[i], start[i + 1] - start[i]);

        for (size_t j = start[i]; id == INGOT_NO_TOKEN && j < start[i + 1]; j++) {
            ids[n_ids++] = 6 + (uint8_t)s[j];
        }
        if (id != INGOT_NO_TOKEN) {
            ids[n_ids++] = id;
        }
    }
    return n_ids;
}

static size_t spaces_for_2581(char *s, size_t n)
{
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        bool space = n - i >= 3 && memcmp(s + i, "\xe2\x96\x81", 3) == 0;

        s[at++] = space ? ' ' : s[i];
        i += space ? 2 : 0;
    }
    return at;
}

static void check_round_trip(char *text, size_t bytes)
{
    static uint32_t ids[MOST_IDS], naive[MOST_IDS];
    static char back[MOST_IDS];
    const struct tokenizer *t = &vocabularies[0].t;
    struct tokenizer_part part = { text, bytes, false };
    size_t n = encode(t, &part, 1, TOKENIZER_BOS, ids);
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        size_t piece_bytes;
        const char *piece = tokenizer_piece(t, ids[i], i > 0 ? ids[i - 1] : 1, &piece_bytes);

        must(t->types[ids[i]] != INGOT_TOKEN_CONTROL);
        memcpy(back + at, piece, piece_bytes);
        at += piece_bytes;
    }
    bytes = spaces_for_2581(text, bytes);
    must(at == bytes && memcmp(back, text, bytes) == 0);
    if (bytes <= MOST_NAIVE && memchr(text, '[', bytes) == NULL) { /* no USER tokens */
        must(naive_encode(t, text, bytes, naive) == n);
        must(memcmp(ids, naive, n * sizeof ids[0]) == 0);
    }
}

static void check_parts(const char *text, size_t bytes, size_t cut)
{
    static uint32_t ids[MOST_IDS];
    size_t a = cut % (bytes + 1);
    struct tokenizer_part parts[3] = { { text, a, true },
                                       { text + a, bytes - a, false },
                                       { text, a, cut & 1 } };

    (void)encode(&vocabularies[1].t, parts, 3, TOKENIZER_BOS, ids);
    (void)encode(&vocabularies[0].t, parts, 3, TOKENIZER_CONTINUE, ids);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MOST_TEXT];
    size_t bytes;

    if (size < 1) {
        return 0;
    }
    if (vocabularies[0].section == NULL) {
        build(0);
        build(1);
    }
    bytes = make_text(text, data + 1, data[0] % 2 == 0 && size > 30 ? 29 : size - 1);
    check_parts(text, bytes, data[0] * 7u);
    for (size_t i = 0; i < bytes; i++) { /* two letters make the deepest merges, '[' none */
        if (data[0] % 8 < 4 && text[i] > ' ' && text[i] <= '~') {
            text[i] = text[i] % 4 < 2 ? 'a' : 'b';
        } else if (data[0] % 8 < 7 && text[i] == '[') {
            text[i] = 'b';
        }
    }
    check_round_trip(text, bytes);
    return 0;
}
