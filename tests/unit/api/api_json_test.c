/* Bodies as trees: texts that clients send, numbers as the C library reads them, what is not JSON, memory that ends, and the way back. */
#include "runtime/api/api_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/tap.h"

static uint64_t room[8192];
static char body[8192], out[8192];
static struct api_json *root;
static size_t at;

static enum api_json_result read_text(const char *text, size_t bytes)
{
    struct api_memory m;
    size_t n = strlen(text);

    memcpy(body, text, n + 1);
    api_memory_open(&m, room, bytes);
    return api_json_read(&root, body, n, &m, &at);
}

/* The text is read, and put again as `want`. */
static bool becomes(const char *text, const char *want)
{
    struct api_text t;
    bool good = read_text(text, sizeof room) == API_JSON_GOOD;

    api_text_open(&t, out, sizeof out);
    if (good) {
        api_json_put(&t, root);
    }
    if (!good || strcmp(t.bytes, want) != 0) {
        printf("# %s: %s\n", text, good ? t.bytes : "refused");
    }
    return good && strcmp(t.bytes, want) == 0;
}

static void test_good(void)
{
    OK(becomes("{\"a\":[1,2,{\"b\":[]}],\"c\":{},\"d\":-1.5e3}",
               "{\"a\":[1,2,{\"b\":[]}],\"c\":{},\"d\":-1.5e3}"),
       "lists and objects in each other are read");
    OK(becomes(" \t\r\n[ true , false , null ] \n", "[true,false,null]") &&
           becomes("\xef\xbb\xbf{}", "{}"),
       "white space, literals and a byte order mark are read");
    OK(becomes("[]", "[]") && becomes("{}", "{}") && becomes("\"\"", "\"\"") && becomes("7", "7") &&
           becomes("[[[]],[{}]]", "[[[]],[{}]]"),
       "empty values are read");
    OK(becomes("[\"a\\n\\u00e9\\ud83d\\ude00\\\"\\/\"]", "[\"a\\n\xc3\xa9\xf0\x9f\x98\x80\\\"/\"]"),
       "escapes are read");
    OK(becomes("[\"a\\ud83d\",\"\\ude00b\",\"\\ud83d\\ud83d\"]",
               "[\"a\xef\xbf\xbd\",\"\xef\xbf\xbd"
               "b\",\"\xef\xbf\xbd\xef\xbf\xbd\"]"),
       "half of a surrogate pair, as clients cut it, becomes U+FFFD");
    OK(becomes("[\"a\tb\n\"]", "[\"a\\tb\\n\"]"), "a text may have bare control characters");
    OK(read_text("{\"a\":{\"x\":1},\"b\":\"t\",\"b\":\"u\"}", sizeof room) == API_JSON_GOOD &&
           root->n == 3 && api_json_number(api_json_get(api_json_get(root, "a"), "x")) == 1 &&
           strcmp(api_json_text_of(root, "b"), "t") == 0 && api_json_get(root, "c") == NULL &&
           api_json_text_of(root, "a") == NULL && api_json_get(NULL, "a") == NULL,
       "members are found by their names, the first of two");
}

static bool is_wrong(const char *text, size_t where)
{
    enum api_json_result result = read_text(text, sizeof room);

    if (result != API_JSON_WRONG || at != where) {
        printf("# %s: %d, byte %zu\n", text, (int)result, at);
    }
    return result == API_JSON_WRONG && at == where;
}

static void test_wrong(void)
{
    OK(is_wrong("", 0) && is_wrong("{\"a\":1,}", 7) && is_wrong("{\"a\" 1}", 5) &&
           is_wrong("[1 2]", 3) && is_wrong("\"x", 2) && is_wrong("{} x", 3) &&
           is_wrong("[1,]", 3) && is_wrong("[1", 2) && is_wrong("[1}", 2) &&
           is_wrong("{\"a\":1]", 6) && is_wrong("[tru]", 1) && is_wrong("[-]", 2) &&
           is_wrong("{1:2}", 1) && is_wrong("[\"\\x\"]", 3) && is_wrong("[,1]", 1),
       "an invalid JSON text is refused, with the position");
    OK(is_wrong("[222.69.5]", 7) && is_wrong("[1-2]", 2) && is_wrong("[1e5e6]", 4) &&
           is_wrong("[1.]", 3) && is_wrong("[1.e5]", 3) && is_wrong("[1e]", 3) &&
           is_wrong("[1e+]", 4) && is_wrong("[01]", 3) && is_wrong("[-.5]", 2) &&
           is_wrong("[+1]", 1) && is_wrong("[.5]", 1),
       "a number that breaks the grammar of JSON is refused, with the position");
    OK(read_text("[\"\\u0000\"]", sizeof room) == API_JSON_BYTES &&
           read_text("[\"\xff\"]", sizeof room) == API_JSON_BYTES &&
           read_text("[\"\\\\u0000\"]", sizeof room) == API_JSON_GOOD,
       "bytes that are not text are refused");
    OK(read_text("[1,2,3]", 3 * sizeof *root) == API_JSON_MEMORY &&
           read_text("[1,2,3]", 4 * sizeof *root) == API_JSON_GOOD,
       "more values than memory has room for are refused");
    memset(out, '[', sizeof out);
    out[API_JSON_DEEPEST + 1] = '\0';
    OK(read_text(out, sizeof room) == API_JSON_DEEP, "JSON that nests too deep is refused as such");
    memset(out + API_JSON_DEEPEST, ']', API_JSON_DEEPEST);
    out[2 * API_JSON_DEEPEST] = '\0';
    OK(read_text(out, sizeof room) == API_JSON_GOOD, "JSON that nests as deep as allowed is read");
}

static void test_numbers(void)
{
    static const char *const numbers[] = { "0",
                                           "-0",
                                           "1",
                                           "0.7",
                                           "-1e-7",
                                           "18446744073709551615",
                                           "1e22",
                                           "123456789.125",
                                           "0.01",
                                           "2.5E+3",
                                           "9007199254740993",
                                           "100",
                                           "1e400",
                                           "4e-9",
                                           "99999999999999999999",
                                           "0.000001",
                                           "1.7976931348623157e30" };
    unsigned wrong = 0;

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        double want = strtod(numbers[i], NULL), got;

        got = read_text(numbers[i], sizeof room) == API_JSON_GOOD ? api_json_number(root) : -1;
        /* up to 2^53 and 10^22 it is exact */
        if (got != want && !(got > want * (1 - 4e-16) && got < want * (1 + 4e-16))) {
            printf("# %s: %.17g\n", numbers[i], got);
            wrong++;
        }
        wrong += i < 10 && got != want;
    }
    OK(wrong == 0, "numbers have the value that the C library gives them");
    OK(read_text("\"1\"", sizeof room) == API_JSON_GOOD &&
           api_json_number(root) != api_json_number(root) &&
           api_json_number(NULL) != api_json_number(NULL),
       "a value that is not a number has no number");
}

static void test_memory(void)
{
    struct api_text a, b;
    struct api_memory m;
    uint64_t block[32];

    api_memory_open(&m, block, sizeof block);
    api_memory_text(&m, &a);
    api_memory_text(&m, &b);
    OK(strcmp(api_text_shown(&a), "") == 0 && api_text_put(&a, "one", 3) &&
           api_text_put(&b, "two", 3) &&
           api_text_put(
               &a, " and more than the first room that it was given, which was sixty-four bytes",
               74) &&
           a.n == 77 && strcmp(b.bytes, "two") == 0 && strncmp(a.bytes, "one and", 7) == 0,
       "a text that is not the last in memory moves");
    OK(!api_text_put(&b, a.bytes, 77) || !api_text_put(&b, a.bytes, 77),
       "a text grows until memory has no more room");
    OK(b.failed && !api_text_put(&b, "x", 1) && api_memory_take(&m, sizeof block) == NULL,
       "a text for which memory had no room says that it failed");
}

static void *blocks[64];
static unsigned n_blocks;
static size_t block_bytes;

/* Adds blocks as `ingot serve` does, which frees all of them at the end of a request. */
static bool add_block(struct api_memory *m, size_t bytes)
{
    if (n_blocks == sizeof blocks / sizeof blocks[0]) {
        return false;
    }
    m->block = blocks[n_blocks++] = malloc(bytes);
    m->room = bytes;
    m->used = 0;
    block_bytes += bytes;
    return true;
}

static void test_long_text(void)
{
    enum { LONG = 100000 };
    struct api_memory m = { .more = add_block };
    struct api_text t;

    api_memory_text(&m, &t);
    for (unsigned i = 0; i < LONG && api_text_put(&t, "x", 1); i++) {
    }
    OK(!t.failed && t.n == LONG && block_bytes < (size_t)LONG * 6,
       "a text of %u bytes, written byte by byte, takes %zu bytes in %u blocks", (unsigned)t.n,
       block_bytes, n_blocks);
    while (n_blocks != 0) {
        free(blocks[--n_blocks]);
    }
}

int main(void)
{
    test_good();
    test_wrong();
    test_numbers();
    test_memory();
    test_long_text();
    return tap_done();
}
