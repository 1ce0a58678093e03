/* Any text through a Unigram vocabulary with every treatment of spaces: the ids spell the text as that
 * treatment makes it, and their scores add up to the best sum of all cuts, which is searched from the
 * other end. */
#include <stdlib.h>
#include <string.h>

#include "runtime/text/utf8.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tokenizer/vocabulary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PIECES = 150, FIRST = 1 + 256, MOST_TEXT = 400, MOST_IDS = MOST_TEXT + 2, LONGEST = 12 };

static uint8_t *section;
static struct tokenizer t;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* Letters, then joins of two earlier pieces. Scores are eighths, so that sums are exact. */
static void add_pieces(struct vocabulary *v)
{
    static const char *const letter[] = { "a", "b", " ", "c", "\xc3\xbc", "\xe4\xbd\xa0" };
    uint32_t state = 3;

    for (uint32_t i = 0; i < PIECES; i++) {
        const char *left = letter[i % 6], *right = "";
        char text[64];

        state = state * 1664525u + 1013904223u;
        if (i >= 6) {
            left = v->token[FIRST + (state >> 8) % i].text;
            right = v->token[FIRST + (state >> 16) % i].text;
        }
        if (strlen(left) + strlen(right) > LONGEST) {
            right = "";
        }
        snprintf(text, sizeof text, "%s%s", left, right);
        vocabulary_set(v, FIRST + i, text, strlen(text), -(float)(state >> 26) / 8,
                       INGOT_TOKEN_NORMAL);
    }
}

static void build(void)
{
    struct vocabulary v = {
        .n = FIRST + PIECES, .bos = INGOT_NO_TOKEN, .eos = INGOT_NO_TOKEN, .unk = 0
    };
    size_t bytes;

    v.token = test_alloc(v.n * sizeof *v.token);
    vocabulary_set(&v, 0, "<unk>", 5, 0, INGOT_TOKEN_UNKNOWN);
    for (uint32_t i = 0; i < 256; i++) {
        char text[8];

        snprintf(text, sizeof text, "<0x%02X>", i);
        vocabulary_set(&v, 1 + i, text, 6, 0, INGOT_TOKEN_BYTE);
    }
    add_pieces(&v);
    section = vocabulary_section(&v, &bytes);
    section[0] = INGOT_TOKENIZER_UNIGRAM;
    vocabulary_free(&v);
}

static size_t character(const char *s, size_t n)
{
    int bytes = utf8_check((const uint8_t *)s, n);

    return bytes > 0 ? (size_t)bytes : 1;
}

/* Changes the text as the flags say. */
static size_t prepare(const char *in, size_t n, uint32_t flags, char *out)
{
    bool squeeze = (flags & INGOT_SQUEEZE_SPACES) != 0;
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        bool escaped = n - i >= 3 && memcmp(in + i, "\xe2\x96\x81", 3) == 0;
        char c = escaped ? ' ' : in[i];

        i += escaped ? 2 : 0;
        if (!squeeze || c != ' ' || (at > 0 && out[at - 1] != ' ')) {
            out[at++] = c;
        }
    }
    at -= squeeze && at > 0 && out[at - 1] == ' ';
    if (at > 0 && (flags & INGOT_ADD_SPACE_PREFIX) &&
        !((flags & INGOT_PREFIX_ONCE) && out[0] == ' ')) {
        memmove(out + 1, out, at++);
        out[0] = ' ';
    }
    return at;
}

/* Finds the piece of exactly these bytes, the first of equal ones; INGOT_NO_TOKEN: none. */
static uint32_t find(const char *s, size_t n)
{
    for (uint32_t id = FIRST; id < FIRST + PIECES; id++) {
        if (tokenizer_text_bytes(&t, id) == n && memcmp(tokenizer_text(&t, id), s, n) == 0) {
            return id;
        }
    }
    return INGOT_NO_TOKEN;
}

/* Finds the best sum of the rest of the text, from its end. Characters begin where starts says. */
static double best(const char *s, size_t n, bool split)
{
    static double from[MOST_TEXT + 3];
    static bool starts[MOST_TEXT + 3];

    memset(starts, 0, sizeof starts);
    for (size_t i = 0; i < n; i += character(s + i, n - i)) {
        starts[i] = true;
    }
    starts[n] = true;
    from[n] = 0;
    for (size_t i = n; i-- > 0;) {
        size_t one = character(s + i, n - i);

        if (!starts[i]) {
            continue;
        }
        from[i] = -1e30;
        if (find(s + i, one) == INGOT_NO_TOKEN) {
            from[i] = t.unknown_score + from[i + one];
        }
        for (size_t bytes = 1; bytes <= LONGEST && i + bytes <= n; bytes++) {
            uint32_t id = find(s + i, bytes);
            bool crosses = split && memchr(s + i + 1, ' ', bytes - 1) != NULL;

            if (id != INGOT_NO_TOKEN && !crosses && starts[i + bytes] &&
                (double)t.scores[id] + from[i + bytes] > from[i]) {
                from[i] = (double)t.scores[id] + from[i + bytes];
            }
        }
    }
    return from[0];
}

/* Adds up the ids' scores; they spell s. */
static double sum_of(const uint32_t *ids, size_t n_ids, const char *s, size_t n)
{
    double sum = 0;
    size_t at = 0;

    for (size_t i = 0; i < n_ids;) {
        size_t bytes = tokenizer_text_bytes(&t, ids[i]);

        if (tokenizer_type(&t, ids[i]) == INGOT_TOKEN_BYTE) {
            bytes = character(s + at, n - at);
            sum += t.unknown_score;
            for (size_t b = 0; b < bytes; b++) {
                must(i < n_ids && at < n && ids[i++] == 1u + (uint8_t)s[at++]);
            }
            continue;
        }
        must(n - at >= bytes && memcmp(tokenizer_text(&t, ids[i]), s + at, bytes) == 0);
        sum += (double)t.scores[ids[i++]];
        at += bytes;
    }
    must(at == n);
    return sum;
}

static void try(const char *text, size_t n, uint32_t flags)
{
    static _Alignas(8) uint8_t scratch[1 << 16];
    char wanted[MOST_TEXT + 2];
    uint32_t ids[MOST_IDS];
    size_t n_ids, prepared;

    ((struct ingot_tokenizer *)(void *)section)->flags = flags;
    must(tokenizer_scratch_bytes(n) <= sizeof scratch);
    must(tokenizer_encode(&t, text, n, TOKENIZER_PLAIN, ids, MOST_IDS, &n_ids, scratch,
                          tokenizer_scratch_bytes(n)) == ERR_OK);
    prepared = prepare(text, n, flags, wanted);
    must(sum_of(ids, n_ids, wanted, prepared) ==
         best(wanted, prepared, (flags & INGOT_SPLIT_SPACES) != 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const piece[] = {
        " ", "a", "b", "c", "\xc3\xbc", "\xe4\xbd\xa0", "\xe2\x96\x81", "ab"
    };
    char text[MOST_TEXT];
    size_t n = 0;

    if (section == NULL) {
        build();
        tokenizer_open(&t, section);
    }
    if (size == 0) {
        return 0;
    }
    for (size_t i = 1; i < size && n + 3 < MOST_TEXT; i++) {
        if (data[i] < 0xa0) {
            const char *p = piece[data[i] % 8];

            memcpy(text + n, p, strlen(p));
            n += strlen(p);
        } else {
            text[n++] = (char)(data[i] * 3); /* any byte, and characters that are cut */
        }
    }
    try(text, n, (uint32_t)(data[0] & 7) << 5 | (data[0] & 8 ? INGOT_ADD_SPACE_PREFIX : 0u));
    return 0;
}
