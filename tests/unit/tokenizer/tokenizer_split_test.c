/* Words as the published regular expressions cut them, computed with a regular expression engine,
 * and their character classes. */
#include <string.h>
#include <time.h>

#include "runtime/text/unicode_class.h"
#include "runtime/tokenizer/tokenizer_split.h"
#include "tests/unit/tap.h"

enum { MOST_WORDS = 16, LONG_TEXT = 1 << 16, LONG_TIME = CLOCKS_PER_SEC / 2 };

/* The words, one after the other, are the text. */
static const struct {
    enum ingot_pre pre;
    const char *words[MOST_WORDS];
} vectors[] = {
    { INGOT_PRE_GPT2,
      { "I", "'ll", " say", " it", "'s", " ", " 42\302\275", "!\?", "\n\n", " x", NULL } },
    { INGOT_PRE_GPT2, { "'", "S", " '", "S", "\t\302\240", "\343\200\200", "a", NULL } },
    { INGOT_PRE_LLAMA3,
      { "We", "'LL", " ", "123", "456", "7", "\r\n\r\n", " ", " if", "(x", "){\n", NULL } },
    { INGOT_PRE_LLAMA3,
      { "a", "\314\201b", " '", "\305\277", "'\305\277", "o", "\n", " \t", " y", "  ", NULL } },
    { INGOT_PRE_QWEN2,
      { "1", "2", "3", "4", " \344\275\240\345\245\275", "!!\n\n\n", "ab", NULL } },
    { INGOT_PRE_DIGITS, { " ", "3", " ", "3", "3", "\302\262", " don", "'t", NULL } },
    { INGOT_PRE_FALCON,
      { "a", "+=", "b", "123", "45", " \320", "\274", "\302", "\275", "\?", NULL } },
    { INGOT_PRE_DEFAULT, { "a", "`", "+", "b", "123", "45\302\2626", NULL } },
    { INGOT_PRE_GPT4O,
      { "HTTPServer's", " My", "Camel", "CASE", " ", "123", "45", "//\n",
        "\344\275\240\345\245\275", "ABC", " we'RE", NULL } },
    { INGOT_PRE_GPT4O, { "ABC\307\205\312\260", "D", " \314\201x", NULL } },
    { INGOT_PRE_TEKKEN, { "HTTPServer", "'s", " ", "1", "2", "3", " a", "/\r\n/", "b", NULL } },
    { INGOT_PRE_DEEPSEEK_LLM,
      { "Hello", " ", "\344\275\240\345\245\275", ",", " w", "0", "rld", " ", "1", "2", "3", "\n",
        "\343\200\200\343\200\200", "   ", NULL } },
    { INGOT_PRE_DEEPSEEK_LLM,
      { "it", "'", "s", " \303\251\320\274", "\331\240", "\343\201\202", " ", "5", "   ", "6",
        NULL } },
    { INGOT_PRE_DEEPSEEK_CODER,
      { "int", " x", "=", "4", "2", ";", " //", "\344\275\240\345\245\275", "!", "\n", " ", " y",
        NULL } },
    { INGOT_PRE_DEEPSEEK_V3,
      { "x", "=", "123", "45", ";.", "foo", "(bar", ")", " ", "\343\201\213\344\275\240",
        "a\314\201", " !!\n\n", "1", "a", NULL } },
    { INGOT_PRE_BLOOM, { "a", ",", "b", " c", " ", " d", "\343\200\202", "e", NULL } },
    { INGOT_PRE_VIKING, { "a", "1", "2", ",", "b", NULL } },
    { INGOT_PRE_QWEN35, { "a\314\201b", " \314\201", "!!", " ", "1", "2", NULL } },
    { INGOT_PRE_SEED_CODER, { "ok", "!!", "\n\n", " ", "1", "2", NULL } },
    { INGOT_PRE_NONE, { "a b\n1", NULL } },
    { INGOT_PRE_GPT2, { "a", "\377\300", "b", " \342\202", NULL } }, /* not UTF-8: symbols */
};

static void test_vector(size_t i)
{
    const char *const *words = vectors[i].words;
    uint8_t text[256];
    uint32_t bytes = 0;
    uint32_t at = 0;
    struct splitter s;
    bool equal = true;

    for (size_t w = 0; words[w] != NULL; w++) {
        memcpy(text + bytes, words[w], strlen(words[w]));
        bytes += (uint32_t)strlen(words[w]);
    }
    split_begin(&s, vectors[i].pre, text, 0, bytes);
    for (size_t w = 0; words[w] != NULL && equal; w++) {
        uint32_t to = at < bytes ? split_next(&s, at) : at;

        equal = to == at + strlen(words[w]);
        if (!equal) {
            printf("# at %u: %.*s\n", (unsigned)at, (int)(to - at), (const char *)text + at);
        }
        at = to;
    }
    OK(equal && at == bytes, "pre %d splits a text as it should: %.*s", (int)vectors[i].pre,
       (int)strcspn((const char *)text, "\r\n"), (const char *)text);
}

static void test_classes(void)
{
    static const struct {
        uint32_t code;
        enum unicode_class class;
    } known[] = {
        { 'A', UNICODE_LU },
        { 'z', UNICODE_LL },
        { '7', UNICODE_N },
        { '_', UNICODE_P },
        { '+', UNICODE_S },
        { ' ', UNICODE_SPACE },
        { '\t', UNICODE_SPACE },
        { 0x1c, UNICODE_OTHER },
        { 0x85, UNICODE_SPACE },
        { 0xa0, UNICODE_SPACE },
        { 0x200b, UNICODE_OTHER },
        { 0x2028, UNICODE_SPACE },
        { 0x3000, UNICODE_SPACE },
        { 0xb2, UNICODE_N },
        { 0x1c5, UNICODE_LT },
        { 0x2b0, UNICODE_LM },
        { 0x301, UNICODE_M },
        { 0x3400, UNICODE_LO },
        { 0x4dbf, UNICODE_LO },
        { 0x4dc0, UNICODE_S },
        { 0xac00, UNICODE_LO },
        { 0xd7a3, UNICODE_LO },
        { 0xe000, UNICODE_OTHER },
        { 0xfffd, UNICODE_S },
        { 0x1f600, UNICODE_S },
        { 0x20000, UNICODE_LO },
        { 0xe0100, UNICODE_M },
        { 0x10fffd, UNICODE_OTHER },
        { 0x10ffff, UNICODE_OTHER },
        { 0x110000, UNICODE_OTHER },
        { 0xffffffff, UNICODE_OTHER },
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        OK(unicode_class(known[i].code) == known[i].class, "U+%04X is of class %d",
           (unsigned)known[i].code, (int)known[i].class);
    }
}

/* Whitespace without a word after it, capitals to the end, digits: every pattern passes over each a
 * few times at most, which takes 7 ms. Quadratic work would take seconds. */
static void test_long_texts(void)
{
    static const char *const pieces[] = { " ",   "A",        "a ",        "1", " \n",
                                          "\n ", "   1",     "A\303\251", "!", "\344\275\240A",
                                          "'",   "\314\201A" };
    static uint8_t text[LONG_TEXT];
    clock_t most = 0;

    for (int pre = 0; pre < INGOT_N_PRES; pre++) {
        for (size_t p = 0; p < sizeof pieces / sizeof pieces[0] && most < LONG_TIME; p++) {
            struct splitter s;
            uint32_t n = (uint32_t)strlen(pieces[p]);
            clock_t start = clock();

            for (uint32_t i = 0; i < LONG_TEXT; i++) {
                text[i] = (uint8_t)pieces[p][i % n];
            }
            split_begin(&s, (enum ingot_pre)pre, text, 0, LONG_TEXT);
            for (uint32_t at = 0; at < LONG_TEXT;) {
                at = split_next(&s, at);
            }
            most = clock() - start > most ? clock() - start : most;
        }
    }
    OK(most < LONG_TIME, "a long text takes %.3f s at most in any pattern",
       (double)most / CLOCKS_PER_SEC);
}

int main(void)
{
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        test_vector(i);
    }
    test_classes();
    test_long_texts();
    return tap_done();
}
