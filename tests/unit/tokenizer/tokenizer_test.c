/* The tokenizer against published token sequences (assets), and against a vocabulary small
 * enough to work out by hand. */
#include <inttypes.h>

#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tap.h"
#include "tests/unit/tokenizer/vocabulary.h"

enum { MAX_IDS = 4096 };

struct fixture {
    struct vocabulary v;
    uint8_t *section;
    size_t bytes;
    struct tokenizer t;
};

static void fixture_open(struct fixture *f)
{
    f->section = vocabulary_section(&f->v, &f->bytes);
    tokenizer_open(&f->t, f->section);
}

static void fixture_close(struct fixture *f)
{
    free(f->section);
    vocabulary_free(&f->v);
}

static unsigned miscounted; /* texts whose ids tokenizer_count_parts() counts otherwise */

/* Encodes in scratch of exactly the promised size. */
static enum err encode(const struct fixture *f, const struct tokenizer_part *parts, size_t n,
                       unsigned flags, uint32_t *ids, size_t max, size_t *n_ids)
{
    size_t total = 0, counted;
    void *scratch;
    enum err err;

    for (size_t i = 0; i < n; i++) {
        total += parts[i].bytes;
    }
    scratch = test_alloc(tokenizer_scratch_bytes(total));
    err = tokenizer_count_parts(&f->t, parts, n, flags, &counted, scratch,
                                tokenizer_scratch_bytes(total));
    if (err != ERR_OK) {
        counted = 0;
    }
    err = tokenizer_encode_parts(&f->t, parts, n, flags, ids, max, n_ids, scratch,
                                 tokenizer_scratch_bytes(total));
    miscounted += err == ERR_TOO_LONG ? counted <= max : counted != *n_ids;
    free(scratch);
    return err;
}

static void ids_text(char *out, size_t bytes, const uint32_t *ids, size_t n)
{
    size_t at = 0;

    out[0] = '\0';
    for (size_t i = 0; i < n && at + 12 < bytes; i++) {
        at += (size_t)snprintf(out + at, bytes - at, "%s%" PRIu32, i > 0 ? " " : "", ids[i]);
    }
}

/* True when the parts give the ids in `expected`, "1 403"; prints them if not. */
static bool gives(const struct fixture *f, const struct tokenizer_part *parts, size_t n,
                  unsigned flags, const char *expected)
{
    static uint32_t ids[MAX_IDS];
    static char got[MAX_IDS * 8];
    size_t n_ids;

    if (encode(f, parts, n, flags, ids, MAX_IDS, &n_ids) != ERR_OK) {
        printf("# error\n");
        return false;
    }
    ids_text(got, sizeof got, ids, n_ids);
    if (strcmp(got, expected) != 0) {
        printf("# got  %s\n# want %s\n", got, expected);
        return false;
    }
    return true;
}

static bool text_gives(const struct fixture *f, const char *text, bool trusted, unsigned flags,
                       const char *expected)
{
    struct tokenizer_part part = { text, strlen(text), trusted };

    return gives(f, &part, 1, flags, expected);
}

/* The bytes of all ids after BOS. */
static size_t decode(const struct fixture *f, const uint32_t *ids, size_t n, char *out)
{
    uint32_t previous = f->t.head->bos;
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        size_t bytes;
        const char *piece = tokenizer_piece(&f->t, ids[i], previous, &bytes);

        memcpy(out + at, piece, bytes);
        at += bytes;
        previous = ids[i];
    }
    return at;
}

/* ---- published sequences ---- */

static void trim_spaces(char **s)
{
    size_t n;

    while (**s == ' ') {
        (*s)++;
    }
    n = strlen(*s);
    while (n > 0 && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\r')) {
        (*s)[--n] = '\0';
    }
}

static void test_vectors(const char *name)
{
    static const char separator[] = "\n__ggml_vocab_test__\n";
    struct fixture f;
    char path[512];
    size_t bytes;
    char *inputs, *outputs, *in, *out;
    int n = 0, good = 0;

    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf", test_assets(), name);
    if (!vocabulary_from_gguf(&f.v, path)) {
        OK(true, "%s # SKIP no assets", name);
        return;
    }
    fixture_open(&f);
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf.inp", test_assets(), name);
    inputs = in = (char *)test_read_file(path, &bytes);
    snprintf(path, sizeof path, "%s/vocab/ggml-vocab-%s.gguf.out", test_assets(), name);
    outputs = out = (char *)test_read_file(path, &bytes);
    while (in != NULL && out != NULL) {
        char *next_in = strstr(in, separator);
        char *next_out = strchr(out, '\n');

        if (next_in == NULL || next_out == NULL) {
            break;
        }
        *next_in = *next_out = '\0';
        trim_spaces(&out);
        n++;
        good += text_gives(&f, in, false, TOKENIZER_PLAIN, out);
        in = next_in + strlen(separator);
        out = next_out + 1;
    }
    OK(n >= 40 && good == n, "%s: %d of %d published sequences are right", name, good, n);
    free(inputs);
    free(outputs);
    fixture_close(&f);
}

static void test_round_trip(const struct fixture *f, const char *name)
{
    static char text[4096];
    static char back[3 * 4096];
    static uint32_t ids[3 * 4096];
    struct tokenizer_part part = { text, sizeof text, false };
    uint64_t state = 88172645463325252u;
    int good = 0;

    for (int round = 0; round < 8; round++) {
        size_t n_ids = 0;
        size_t bytes;

        for (size_t i = 0; i < sizeof text; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            text[i] = round < 4 ? (char)(state >> 56) : "the cat's \xc3\xbc \n"[(state >> 40) % 14];
        }
        if (encode(f, &part, 1, TOKENIZER_PLAIN, ids, 3 * 4096, &n_ids) == ERR_OK) {
            bytes = decode(f, ids, n_ids, back);
            good += bytes == sizeof text && memcmp(text, back, bytes) == 0;
        }
    }
    OK(good == 8, "%s: 8 texts of random bytes come back exactly (%d)", name, good);
}

static void test_stories(void)
{
    struct fixture f;
    char path[512];
    size_t bytes;

    snprintf(path, sizeof path, "%s/llama2c/tok512.bin", test_assets());
    if (!vocabulary_from_llama2c(&f.v, path, 512)) {
        OK(true, "tok512 # SKIP no assets");
        return;
    }
    fixture_open(&f);
    OK(text_gives(&f, "Once upon a time", false, TOKENIZER_BOS, "1 403 407 261 378"),
       "tok512 encodes the reference prompt");
    OK(text_gives(&f, "", false, TOKENIZER_BOS, "1"), "tok512 gives only BOS without a text");
    OK(text_gives(&f, "", false, TOKENIZER_PLAIN, ""), "there are no tokens without text");
    OK(tokenizer_piece(&f.t, 403, 1, &bytes)[0] == 'O' && bytes == 4,
       "the space in front falls away after BOS");
    OK(tokenizer_piece(&f.t, 403, 2, &bytes)[0] == ' ' && bytes == 5,
       "the space in front stays elsewhere");
    OK(tokenizer_piece(&f.t, 3 + 10, 403, &bytes)[0] == '\n' && bytes == 1,
       "a byte token has its byte");
    tokenizer_piece(&f.t, 2, 403, &bytes);
    OK(bytes == 0, "a control token prints nothing");
    tokenizer_piece(&f.t, 512, 403, &bytes);
    OK(bytes == 0, "an id outside the vocabulary prints nothing");
    test_round_trip(&f, "tok512");
    fixture_close(&f);
}

/* ---- by hand ---- */

/* ids: 0 unk, 1 <s>, 2 <|end|>x, 3 <|end|>, 4 [U] (user), then pieces. No byte tokens but 0xC3
 * and 0xA9. */
static void open_small(struct fixture *f, uint32_t flags)
{
    static const struct {
        const char *text;
        float score;
        uint8_t type;
    } tokens[] = {
        { "<unk>", 0, INGOT_TOKEN_UNKNOWN },    { "<s>", 0, INGOT_TOKEN_CONTROL },
        { "<|end|>x", 0, INGOT_TOKEN_CONTROL }, { "<|end|>", 0, INGOT_TOKEN_CONTROL },
        { "[U]", 0, INGOT_TOKEN_USER },         { "\xe2\x96\x81", -9, INGOT_TOKEN_NORMAL },
        { "a", -9, INGOT_TOKEN_NORMAL },        { "b", -9, INGOT_TOKEN_NORMAL },
        { "aa", -1, INGOT_TOKEN_NORMAL },       { "ab", -2, INGOT_TOKEN_NORMAL },
        { "aab", -0.5f, INGOT_TOKEN_NORMAL },   { "<", -9, INGOT_TOKEN_NORMAL },
        { "s", -9, INGOT_TOKEN_NORMAL },        { ">", -9, INGOT_TOKEN_NORMAL },
        { "<s", -1, INGOT_TOKEN_NORMAL },       { "<0xC3>", 0, INGOT_TOKEN_BYTE },
        { "<0xA9>", 0, INGOT_TOKEN_BYTE },      { "old", 0, INGOT_TOKEN_UNUSED },
        { "[U]a", 0, INGOT_TOKEN_USER },        { "s>", -3, INGOT_TOKEN_NORMAL },
    };

    f->v = (struct vocabulary){
        .n = sizeof tokens / sizeof tokens[0], .bos = 1, .eos = 2, .unk = 0, .flags = flags
    };
    f->v.token = test_alloc(f->v.n * sizeof *f->v.token);
    for (uint32_t i = 0; i < f->v.n; i++) {
        vocabulary_set(&f->v, i, tokens[i].text, strlen(tokens[i].text), tokens[i].score,
                       tokens[i].type);
    }
    fixture_open(f);
}

static void test_merges(void)
{
    struct fixture f;

    open_small(&f, INGOT_ADD_BOS);
    OK(text_gives(&f, "aaa", false, 0, "8 6"), "the leftmost of equal pairs merges first");
    OK(text_gives(&f, "aaab", false, 0, "8 9"), "the better score merges first");
    OK(text_gives(&f, "aab", false, 0, "10"), "a merged piece merges further");
    OK(text_gives(&f, "bbb", false, 0, "7 7 7"), "nothing is merged without a pair");
    OK(text_gives(&f,
                  " a\xe2\x96\x81"
                  "a",
                  false, 0, "5 6 5 6"),
       "U+2581 counts as a space");
    OK(text_gives(&f, "\xc3\xa9", false, 0, "15 16"), "an unknown character becomes byte tokens");
    OK(text_gives(&f, "a\xc3\xbc", false, 0, "6 0"),
       "a character is one unknown token if there are no byte tokens");
    OK(text_gives(&f,
                  "\xc3"
                  "a\xa9",
                  false, 0, "15 6 16"),
       "invalid UTF-8 is encoded byte by byte");
    OK(text_gives(&f, "old", false, 0, "0 0 0"), "an unused token is never formed");
    fixture_close(&f);
}

/* Scores above 0 too, and a run of unknown characters as one token. */
static void test_others(void)
{
    struct fixture f;
    float *scores;

    open_small(&f, INGOT_FUSE_UNK);
    OK(text_gives(&f, "<s>", false, 0, "14 13"), "a score of -1 is better than -3");
    scores = (float *)(uintptr_t)f.t.scores; /* the fixture's */
    scores[14] = 1;
    scores[19] = 2;
    OK(text_gives(&f, "<s>", false, 0, "11 19"), "a score of 2 is better than 1");
    scores[19] = -3;
    OK(text_gives(&f, "<s>", false, 0, "14 13"), "a score of 1 is better than -3");
    OK(text_gives(&f, "??a?", false, 0, "0 6 0"), "unknown characters join");
    fixture_close(&f);
}

static void test_special(void)
{
    struct fixture f;

    open_small(&f, INGOT_ADD_BOS);
    OK(text_gives(&f, "<s>", false, 0, "14 13"), "user text forms no control token");
    OK(text_gives(&f, "<s>", true, 0, "1"), "a template forms control tokens");
    OK(text_gives(&f, "a<|end|>xb", true, 0, "6 2 7"), "the longest control token wins");
    OK(text_gives(&f, "<s>a", true, TOKENIZER_BOS, "1 6"), "a template's BOS is not doubled");
    OK(text_gives(&f, "a[U]b", false, 0, "6 4 7"), "a user token matches in any text");
    OK(text_gives(&f, "a[U]ab", false, 0, "6 18 7"), "the longest user token wins");
    OK(text_gives(&f, "a[Ub", false, 0, "6 0 0 7"), "half a user token stays text");
    {
        struct tokenizer_part parts[3] = { { "<|end|>a", 8, true },
                                           { "ab<|end|>", 9, false },
                                           { "<|end|>", 7, true } };

        OK(gives(&f, parts, 2, 0, "3 10 11 0 0 0 0 0 13"), "text merges across parts");
        OK(gives(&f, parts, 3, 0, "3 10 11 0 0 0 0 0 13 3"), "three parts are encoded");
        parts[0] = (struct tokenizer_part){ "<|en", 4, true };
        parts[1] = (struct tokenizer_part){ "d|>", 3, true };
        OK(gives(&f, parts, 2, 0, "11 0 0 0 0 0 13"), "a control token never crosses a border");
        OK(gives(&f, NULL, 0, TOKENIZER_BOS, "1"), "no parts at all are encoded");
    }
    fixture_close(&f);
    open_small(&f, INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX);
    OK(text_gives(&f, "a<|end|>b", true, TOKENIZER_BOS, "1 5 6 3 5 7"),
       "a space stands in front of every run");
    OK(text_gives(&f, "a", false, TOKENIZER_CONTINUE, "6"),
       "a space is not added if the text continues");
    fixture_close(&f);
    open_small(&f, 0);
    OK(text_gives(&f, "a", false, TOKENIZER_BOS, "6"), "a model that wants no BOS gets none");
    fixture_close(&f);
}

/* The scratch still has the earlier text: its last byte does not complete a control token. */
static void test_scratch_of_before(void)
{
    static _Alignas(8) uint8_t scratch[4096];
    struct tokenizer_part whole = { "<|end|>", 7, true }, part = { "<|end|", 6, true };
    struct fixture f;
    uint32_t ids[16];
    size_t n;

    open_small(&f, 0);
    OK(tokenizer_encode_parts(&f.t, &whole, 1, 0, ids, 16, &n, scratch, sizeof scratch) == ERR_OK &&
           n == 1 && ids[0] == 3,
       "a control token is encoded");
    OK(tokenizer_encode_parts(&f.t, &part, 1, 0, ids, 16, &n, scratch, sizeof scratch) == ERR_OK &&
           n > 1 && ids[0] != 3,
       "a control token whose last byte lies only in the scratch stays text");
    fixture_close(&f);
}

static void test_limits(void)
{
    struct fixture f;
    uint32_t ids[4];
    size_t n = 99;
    uint64_t scratch[64];
    struct tokenizer_part part = { "bbbb", 4, false };

    open_small(&f, INGOT_ADD_BOS);
    OK(encode(&f, &part, 1, 0, ids, 4, &n) == ERR_OK && n == 4, "four ids fit four");
    OK(encode(&f, &part, 1, TOKENIZER_BOS, ids, 4, &n) == ERR_TOO_LONG && n == 0,
       "five ids do not fit four, and none is given");
    OK(encode(&f, &part, 1, 0, ids, 0, &n) == ERR_TOO_LONG && n == 0,
       "one id does not fit a buffer for none, and none is given");
    OK(tokenizer_encode(&f.t, "b", 1, 0, ids, 4, &n, scratch, 8) == ERR_NO_SPACE,
       "too little scratch is an error");
    OK(tokenizer_encode(&f.t, "b", 1, 0, ids, 4, &n, scratch, sizeof scratch) == ERR_OK && n == 1,
       "exactly enough scratch works");
    {
        bool good = true;

        for (size_t bytes = 0; bytes < 5000; bytes++) {
            size_t limit = tokenizer_text_limit(bytes);

            good = good && (limit == 0 || tokenizer_scratch_bytes(limit) <= bytes) &&
                   (bytes < 500 || tokenizer_scratch_bytes(limit + 8) > bytes);
        }
        OK(good, "tokenizer_text_limit() is the inverse of tokenizer_scratch_bytes()");
    }
    f.section[0] = INGOT_TOKENIZER_SPM;
    ((struct ingot_tokenizer *)(void *)f.section)->unk = INGOT_NO_TOKEN;
    OK(tokenizer_encode(&f.t, "?", 1, 0, ids, 4, &n, scratch, sizeof scratch) == ERR_BAD_TOKENIZER,
       "a character that nothing can stand for is an error");
    ((struct ingot_tokenizer *)(void *)f.section)->unk = 2;
    OK(tokenizer_encode(&f.t, "?a", 2, 0, ids, 4, &n, scratch, sizeof scratch) == ERR_OK &&
           n == 1 && ids[0] == 6,
       "an unknown token that is the EOS stands for nothing");
    fixture_close(&f);
}

/* ---- output in whole characters ---- */

struct sink {
    char text[256];
    size_t bytes;
    bool whole;
};

static void sink_write(void *context, const char *text, size_t bytes)
{
    struct sink *s = context;

    s->whole = s->whole && utf8_check((const uint8_t *)text, bytes) == (int)bytes;
    memcpy(s->text + s->bytes, text, bytes);
    s->bytes += bytes;
}

static bool writes(const char *in, const char *expected)
{
    struct sink s = { .whole = true };
    struct utf8_writer w = { sink_write, &s, { 0 }, 0 };

    for (size_t i = 0; in[i] != '\0'; i++) {
        utf8_writer_put(&w, in + i, 1);
    }
    utf8_writer_flush(&w);
    return s.whole && s.bytes == strlen(expected) && memcmp(s.text, expected, s.bytes) == 0;
}

#define R UTF8_REPLACEMENT

static void test_utf8(void)
{
    OK(writes("a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z", "a\xc3\xbc\xe2\x82\xac\xf0\x9f\x98\x80z"),
       "characters of 1 to 4 bytes pass");
    OK(writes("\xe2\x82"
              "a",
              R "a"),
       "a broken character becomes one U+FFFD");
    OK(writes("\xe2\x82\xe2\x82\xac", R "\xe2\x82\xac"),
       "the character after a broken one is whole");
    OK(writes("\xc0\xaf\xc1\xbf\xed\xa0\x80\xf4\x90\x80\x80", R R R R R R R R R R R),
       "overlong forms, surrogates and numbers beyond U+10FFFF are replaced");
    OK(writes("\x80\xff"
              "b",
              R R "b"),
       "stray bytes are replaced");
    OK(writes("x\xf0\x9f\x98", "x" R), "a character cut off at the end is replaced");
    OK(utf8_decode((const uint8_t *)"\xf0\x9f\x98\x80", 4) == 0x1f600 &&
           utf8_decode((const uint8_t *)"\xe2\x82\xac", 3) == 0x20ac &&
           utf8_decode((const uint8_t *)"z", 1) == 'z',
       "characters have their code points");
}

int main(void)
{
    test_vectors("llama-spm");
    test_vectors("phi-3");
    test_stories();
    test_merges();
    test_others();
    test_special();
    test_scratch_of_before();
    test_limits();
    test_utf8();
    OK(miscounted == 0, "ids are counted as they are written, but for %u texts", miscounted);
    return tap_done();
}
