/* The published vocabularies (assets): the ids of their test texts, and round trips of long texts
 * and of random ones. */
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack.h"
#include "runtime/image/image.h"
#include "runtime/text/nfc.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tap.h"

enum { MOST_IDS = 512, MOST_TEXT = 160, ROUNDS = 5000, LONG_ROUNDS = 100000 };

static uint8_t *section;
static uint64_t section_bytes;
static struct tokenizer t;

static size_t encode(const char *text, size_t bytes, uint32_t *ids)
{
    size_t scratch_bytes = tokenizer_scratch_bytes(bytes);
    void *scratch = malloc(scratch_bytes);
    size_t n = 0;
    enum err e = tokenizer_encode(&t, text, bytes, TOKENIZER_PLAIN, ids, MOST_IDS, &n, scratch,
                                  scratch_bytes);

    free(scratch);
    return e == ERR_OK ? n : SIZE_MAX;
}

static uint32_t random_bits(void)
{
    static uint64_t state = 88172645463325252u;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Makes a code point of one of the lengths, without surrogates. */
static size_t random_character(char *out)
{
    static const uint32_t ranges[][2] = { { 1, 0x7f },        { 0x20, 0x7e },
                                          { 0x80, 0x7ff },    { 0x800, 0xd7ff },
                                          { 0xe000, 0xffff }, { 0x10000, 0x10ffff } };
    const uint32_t *r = ranges[random_bits() % 6];
    uint32_t code = r[0] + random_bits() % (r[1] - r[0] + 1);

    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* Uses only bytes that the vocabulary has, because it cannot return others. */
static size_t random_text(char *out)
{
    size_t n = 0;
    size_t most = random_bits() % 40;
    bool bytes = random_bits() % 2;

    while (n < most) {
        size_t length = 1;
        bool sayable = true;

        if (bytes) {
            out[n] = (char)random_bits();
        } else {
            length = random_character(out + n);
        }
        for (size_t i = 0; i < length; i++) {
            sayable = sayable && t.byte_tokens[(uint8_t)out[n + i]] != INGOT_NO_TOKEN;
        }
        n += sayable ? length : 0;
        if (random_bits() % 4 == 0) {
            out[n++] = " \n\ta1'"[random_bits() % 6];
        }
    }
    return n;
}

static bool comes_back(const char *text, size_t n)
{
    uint32_t ids[MOST_IDS];
    char back[MOST_IDS * 4];
    size_t n_ids = encode(text, n, ids);
    size_t at = 0;

    for (size_t i = 0; n_ids != SIZE_MAX && i < n_ids; i++) {
        size_t bytes;
        const char *piece = tokenizer_piece(&t, ids[i], i > 0 ? ids[i - 1] : INGOT_NO_TOKEN,
                                            &bytes);

        if (at + bytes > sizeof back || tokenizer_type(&t, ids[i]) == INGOT_TOKEN_CONTROL) {
            return false;
        }
        memcpy(back + at, piece, bytes);
        at += bytes;
    }
    return at == n && memcmp(back, text, n) == 0;
}

__attribute__((format(printf, 1, 0))) static const char *asset(const char *format, const char *name)
{
    const char *assets = getenv("INGOT_ASSETS");
    static char path[512];
    int n = snprintf(path, sizeof path, "%s/", assets != NULL ? assets : "../shared/models");

    snprintf(path + n, sizeof path - (size_t)n, format, name);
    return path;
}

/* Reads a text of the assets as a whole, as one run of words. */
static void test_file(const char *name, const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t most = 4 << 20;
    size_t scratch_bytes = tokenizer_scratch_bytes(most);
    char *text = malloc(most), *back = malloc(most);
    uint32_t *ids = malloc(most * sizeof *ids);
    void *scratch = malloc(scratch_bytes);
    size_t bytes = f != NULL ? fread(text, 1, most, f) : 0;
    size_t n = 0, at = 0;
    enum err e = tokenizer_encode(&t, text, bytes, TOKENIZER_PLAIN, ids, most, &n, scratch,
                                  scratch_bytes);

    for (size_t i = 0; i < n; i++) {
        size_t piece_bytes;
        const char *piece = tokenizer_piece(&t, ids[i], i > 0 ? ids[i - 1] : t.head->bos,
                                            &piece_bytes);

        if (piece_bytes > most - at) {
            break;
        }
        memcpy(back + at, piece, piece_bytes);
        at += piece_bytes;
    }
    OK(e == ERR_OK && bytes > 0 && at == bytes && memcmp(text, back, bytes) == 0,
       "%s: %zu bytes of %s come "
       "back from %zu ids",
       name, bytes, strrchr(path, '/') + 1, n);
    free(text);
    free(back);
    free(ids);
    free(scratch);
    if (f != NULL) {
        fclose(f);
    }
}

/* Opens the vocabulary of a GGUF in t; false: there is no such asset. */
static bool open_published(const char *name)
{
    struct pack_options o = { .quiet = true };
    char error_message[512] = "";
    uint32_t vocab;
    struct image image;

    o.input = asset("vocab/ggml-vocab-%s.gguf", name);
    free(section);
    if (pack_tokenizer(&o, &section, &section_bytes, &vocab, error_message, sizeof error_message) !=
        ERR_OK) {
        section = NULL;
        OK(true, "%s # SKIP %s", name, error_message);
        return false;
    }
    OK(image_check_tokenizer(&image, section, section_bytes, vocab) == ERR_OK,
       "%s: a section of %llu bytes is accepted", name, (unsigned long long)section_bytes);
    tokenizer_open(&t, section);
    return true;
}

static size_t read_asset(const char *path, char *to, size_t most)
{
    FILE *f = fopen(path, "rb");
    size_t bytes = f != NULL ? fread(to, 1, most, f) : 0;

    if (f != NULL) {
        fclose(f);
    }
    return bytes;
}

/* Whether the text has the ids of this line, in decimal with spaces between; *line moves to the
 * next one. */
static bool ids_are(const char *text, size_t bytes, const char **line)
{
    uint32_t ids[MOST_IDS];
    size_t n = encode(text, bytes, ids), i = 0;
    const char *end = *line + strcspn(*line, "\n");
    bool good = n != SIZE_MAX;

    while (good && *line + strspn(*line, " ") < end) {
        char *after;
        unsigned long id = strtoul(*line, &after, 10);

        good = i < n && ids[i++] == id;
        *line = after;
    }
    *line = *end != '\0' ? end + 1 : end;
    return good && i == n;
}

/* The texts that the assets have for a vocabulary, with the ids of the model's own tokenizer. */
static void test_ids(const char *name)
{
    static const char separator[] = "\n__ggml_vocab_test__\n";
    static char texts[8192], lines[8192];
    size_t bytes = read_asset(asset("vocab/ggml-vocab-%s.gguf.inp", name), texts, sizeof texts - 1);
    size_t n_lines = read_asset(asset("vocab/ggml-vocab-%s.gguf.out", name), lines,
                                sizeof lines - 1);
    const char *line = lines, *text = texts, *end = texts + bytes;
    unsigned count = 0, right = 0;

    lines[n_lines] = '\0';
    while (text != NULL) {
        const char *stop = memmem(text, (size_t)(end - text), separator, sizeof separator - 1);
        bool good = ids_are(text, (size_t)((stop != NULL ? stop : end) - text), &line);

        right += good;
        if (!good)
            printf("# text %u\n", count);
        count++;
        text = stop != NULL ? stop + sizeof separator - 1 : NULL;
    }
    OK(count >= 46 && right == count && *line == '\0',
       "%s: %u of %u texts have the ids of the model's own tokenizer", name, right, count);
}

static bool is_long(void)
{
    const char *more = getenv("INGOT_LONG");

    return more != NULL && strcmp(more, "1") == 0;
}

/* whole: also the longest text, which tests nothing new for a second vocabulary of a kind. */
static void test_files(const char *name, bool whole)
{
    test_ids(name);
    test_file(name, asset("vocab/ggml-vocab-%s.gguf.inp", name));
    if (whole || is_long())
        test_file(name, asset("text/%s", "wikitext2_test.raw.txt"));
    test_file(name, asset("text/%s", "tinystories-eval-64K.txt"));
}

static void test_random_texts(const char *name)
{
    unsigned rounds = is_long() ? LONG_ROUNDS : ROUNDS;
    char text[MOST_TEXT];
    unsigned wrong = 0;

    for (unsigned i = 0; i < rounds; i++) {
        size_t n = random_text(text);
        uint8_t form[MOST_TEXT * NFC_MOST_GROWTH];
        bool in_form = (t.head->flags & INGOT_NFC) !=
                       0; /* what is not is changed before it is tokens */

        if (in_form) {
            n = nfc_normalize((const uint8_t *)text, n, form, sizeof form);
        }
        if (!comes_back(in_form ? (const char *)form : text, n)) {
            wrong++;
            printf("# round %u\n", i);
        }
    }
    OK(wrong == 0, "%s: %u random texts come back, half of them UTF-8", name, rounds);
}

int main(void)
{
    static const char *const bytes[] = { "gpt-2", "llama-bpe", "qwen2", "falcon", "starcoder" };
    static const char *const pieces[] = { "llama-spm", "phi-3" };

    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++) {
        if (open_published(bytes[i])) {
            test_random_texts(bytes[i]);
            test_files(bytes[i], i == 0);
        }
    }
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        if (open_published(pieces[i])) {
            test_files(pieces[i], i == 0);
        }
    }
    free(section);
    return tap_done();
}
