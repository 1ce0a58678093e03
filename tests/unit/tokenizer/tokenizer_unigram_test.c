/* Unigram: equal sums, the penalty of unknown characters, spaces, and bounds of the caller's
 * arrays. */
#include <string.h>
#include <time.h>

#include "runtime/image/image.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tap.h"
#include "tests/unit/tokenizer/vocabulary.h"

enum { MOST_IDS = 64, LONG_TEXT = 1 << 18 };

struct piece {
    const char *text;
    float score;
};

static struct tokenizer t;
static uint8_t *section;

/* <unk> is 0, the pieces follow from 1 on. */
static void open_pieces(const struct piece *pieces, uint32_t n, uint32_t flags, bool unknown)
{
    struct vocabulary v = { .n = n + 1,
                            .bos = INGOT_NO_TOKEN,
                            .eos = INGOT_NO_TOKEN,
                            .unk = unknown ? 0 : INGOT_NO_TOKEN,
                            .flags = flags };
    struct image image;
    size_t bytes;

    v.token = test_alloc(v.n * sizeof *v.token);
    vocabulary_set(&v, 0, "<unk>", 5, 0, INGOT_TOKEN_UNKNOWN);
    for (uint32_t i = 0; i < n; i++) {
        vocabulary_set(&v, i + 1, pieces[i].text, strlen(pieces[i].text), pieces[i].score,
                       INGOT_TOKEN_NORMAL);
    }
    free(section);
    section = vocabulary_section(&v, &bytes);
    section[0] = INGOT_TOKENIZER_UNIGRAM;
    OK(image_check_tokenizer(&image, section, bytes, v.n) == ERR_OK,
       "a section of %u pieces is accepted", n);
    tokenizer_open(&t, section);
    vocabulary_free(&v);
}

static enum err encode(const char *text, size_t bytes, uint32_t *ids, size_t most, size_t *n)
{
    size_t scratch_bytes = tokenizer_scratch_bytes(bytes);
    void *scratch = test_alloc(scratch_bytes);
    enum err e = tokenizer_encode(&t, text, bytes, TOKENIZER_PLAIN, ids, most, n, scratch,
                                  scratch_bytes);

    free(scratch);
    return e;
}

/* expected: up to a -1. */
static void is(const char *text, const int *expected)
{
    uint32_t ids[MOST_IDS];
    size_t n = 0, i = 0;
    bool equal = encode(text, strlen(text), ids, MOST_IDS, &n) == ERR_OK;

    for (; equal && expected[i] >= 0; i++) {
        equal = i < n && ids[i] == (uint32_t)expected[i];
    }
    OK(equal && i == n, "\"%s\" has its %zu ids", text, n);
}

#define IS(text, ...) is(text, (const int[]){ __VA_ARGS__, -1 })
#define OPEN(pieces, flags) open_pieces(pieces, sizeof pieces / sizeof pieces[0], flags, true)

static void test_sums(void)
{
    static const struct piece equal[] = { { "a", -1 }, { "ab", -2 }, { "bc", -2 },
                                          { "c", -1 }, { "d", -1 },  { "cd", -2 } };
    static const struct piece rare[] = {
        { "abc", -8 }, { "def", -8 }, { "a", -3.5f }, { "cdef", -3.5f }
    };
    static const struct piece within[] = { { "ab", -20 }, { "bc", -1 } };

    OPEN(equal, 0);
    IS("abc", 1, 3);  /* ab c and a bc: the longer last one */
    IS("abcd", 2, 6); /* a bc d, ab c d, ab cd */
    IS("b", 0);       /* in no piece alone */
    IS("bb", 0, 0);   /* not fused without the flag */
    IS("a\xff\xe4z", 1, 0, 0, 0);
    OPEN(rare, INGOT_FUSE_UNK);
    IS("abcdef", 1, 2); /* -16; a, b unknown at -18, cdef are -25 */
    IS("acdef", 3, 4);
    IS("bbb", 0);
    IS("bba", 0, 3);
    OPEN(within, 0);
    IS("abc", 0, 2); /* a begins a piece, and is unknown at -30; c as well: -31, not -50 */
}

static void test_spaces(void)
{
    static const struct piece pieces[] = { { " ", -2 },  { "a", -1 },  { " a", -1 }, { "  ", -1 },
                                           { "a ", -1 }, { " b", -2 }, { "b", -3 } };
    const uint32_t prefix = INGOT_ADD_SPACE_PREFIX;

    OPEN(pieces, 0);
    IS("a  b", 5, 6);
    IS("a\xe2\x96\x81", 5);
    OPEN(pieces, INGOT_SPLIT_SPACES);
    IS("a  b", 2, 1, 6);
    IS("  ", 1, 1);
    OPEN(pieces, INGOT_SQUEEZE_SPACES | prefix);
    IS("  a   b ", 3, 6);
    IS("   ", -1);
    OPEN(pieces, prefix);
    IS("a", 3);
    IS(" a", 4, 2);
    OPEN(pieces, prefix | INGOT_PREFIX_ONCE);
    IS("a", 3);
    IS(" a", 3);
}

static void test_bounds(void)
{
    static const struct piece one[] = { { "a", -1 } };
    uint32_t ids[2];
    size_t n = 7;

    OPEN(one, 0);
    OK(encode("aaa", 3, ids, 2, &n) == ERR_TOO_LONG && n == 0, "three ids do not fit two");
    OK(encode("aa", 2, ids, 2, &n) == ERR_OK && n == 2, "two ids fit two");
    open_pieces(one, 1, 0, false);
    OK(encode("ab", 2, ids, 2, &n) == ERR_BAD_TOKENIZER && n == 0,
       "an unknown letter gives nothing");
    free(section);
    section = NULL;
}

/* Each place is looked at once, and for no more bytes than the longest piece has. */
static void test_long_text(void)
{
    static const struct piece pieces[] = {
        { "a", -1 }, { "aa", -1.5f }, { "aaaaaaaa", -2 }, { "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", -3 }
    };
    uint32_t *ids = test_alloc(LONG_TEXT * sizeof *ids);
    char *text = test_alloc(LONG_TEXT);
    clock_t start = clock();
    size_t n = 0;

    OPEN(pieces, 0);
    memset(text, 'a', LONG_TEXT);
    OK(encode(text, LONG_TEXT, ids, LONG_TEXT, &n) == ERR_OK && n == LONG_TEXT / 32,
       "%d letters are %zu ids in %.2f s", LONG_TEXT, n,
       (double)(clock() - start) / CLOCKS_PER_SEC);
    OK(clock() - start < 60 * CLOCKS_PER_SEC, "a long text ends in time");
    free(ids);
    free(text);
}

int main(void)
{
    test_sums();
    test_spaces();
    test_long_text();
    test_bounds();
    return tap_done();
}
