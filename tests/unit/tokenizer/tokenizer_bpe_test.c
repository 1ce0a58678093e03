/* BPE by rank against a vocabulary small enough to work out by hand, and the reader's check of such
 * a section. */
#include <stdlib.h>
#include <string.h>

#include "runtime/image/image.h"
#include "runtime/tokenizer/tokenizer.h"
#include "tests/unit/tokenizer/listed_vocabulary.h"
#include "tests/unit/tap.h"

enum {
    HE = 256,
    LL,
    HELL,
    HELLO,
    SPACE_HELLO,
    CONTROL_X,
    USER_B,
    BOS,
    EOS,
    MASK,
    ABC,
    LITERAL,
    MOST_IDS = 512
};

static uint8_t *section;
static uint64_t section_bytes;
static struct tokenizer t;

/* The bytes but for 0x03, words of GPT-2, a few merges and special tokens. */
static void list_hello(uint32_t flags)
{
    listed_begin(INGOT_TOKENIZER_BPE, INGOT_PRE_GPT2, flags);
    listed.tokens[3].type = INGOT_TOKEN_UNUSED;
    listed_add("he", INGOT_TOKEN_NORMAL);
    listed_add("ll", INGOT_TOKEN_NORMAL);
    listed_add("hell", INGOT_TOKEN_NORMAL);
    listed_add("hello", INGOT_TOKEN_NORMAL);
    listed_add("\304\240hello", INGOT_TOKEN_NORMAL); /* U+0120 is a space */
    listed_add("<|x|>", INGOT_TOKEN_USER);
    listed_add("<b>", INGOT_TOKEN_USER);
    listed_add("<s>", INGOT_TOKEN_CONTROL);
    listed_add("</s>", INGOT_TOKEN_CONTROL);
    listed_add("<mask>", INGOT_TOKEN_CONTROL);
    listed_add("abc", INGOT_TOKEN_NORMAL);
    listed_add("two words", INGOT_TOKEN_NORMAL); /* a space is not a spelling of a byte */
    listed.tokens[EOS].rstrip = true;
    listed.tokens[MASK].lstrip = true;
    listed.source.vocab.bos = BOS;
    listed.source.vocab.eos = EOS;
    listed_merge("h", "e");
    listed_merge("l", "l");
    listed_merge("he", "ll");
    listed_merge("hell", "o");
    listed_merge("\304\240", "hello");
    listed_merge("l", "l"); /* again: the first one counts */
}

static bool open_listed(void)
{
    struct image image;

    free(section);
    section = listed_section(&section_bytes);
    if (section == NULL) {
        printf("# %s\n", listed.source.error_message);
        return false;
    }
    if (image_check_tokenizer(&image, section, section_bytes, listed.source.vocab.n_tokens) !=
        ERR_OK) {
        printf("# %s\n", image.error_message);
        return false;
    }
    tokenizer_open(&t, section);
    return true;
}

static size_t encode(const char *text, size_t bytes, bool trusted, unsigned flags, uint32_t *ids)
{
    struct tokenizer_part part = { text, bytes, trusted };
    size_t scratch_bytes = tokenizer_scratch_bytes(bytes);
    void *scratch = malloc(scratch_bytes);
    size_t n = 0;
    enum err e = tokenizer_encode_parts(&t, &part, 1, flags, ids, MOST_IDS, &n, scratch,
                                        scratch_bytes);

    free(scratch);
    return e == ERR_OK ? n : SIZE_MAX;
}

/* ids ends with 0xffffffff. */
static void gives(const char *text, bool trusted, unsigned flags, const uint32_t *ids)
{
    uint32_t got[MOST_IDS];
    size_t n = encode(text, strlen(text), trusted, flags, got);
    size_t want = 0;
    bool equal;

    while (ids[want] != INGOT_NO_TOKEN) {
        want++;
    }
    equal = n == want && memcmp(got, ids, n * sizeof *ids) == 0;
    for (size_t i = 0; !equal && n != SIZE_MAX && i < n; i++) {
        printf("# got %u\n", (unsigned)got[i]);
    }
    OK(equal, "\"%.*s\" has its %zu ids%s", (int)strcspn(text, "\n"), text, want,
       trusted ? " (trusted)" : "");
}

#define GIVES(text, trusted, flags, ...) \
    gives((text), (trusted), (flags), (const uint32_t[]){ __VA_ARGS__, INGOT_NO_TOKEN })

static void test_words(void)
{
    list_hello(INGOT_ADD_BOS | INGOT_ADD_EOS);
    if (!OK(open_listed(), "a section from lists of tokens and merges opens")) {
        return;
    }
    GIVES("hello", false, TOKENIZER_PLAIN, HELLO);
    GIVES("hello hello", false, TOKENIZER_PLAIN, HELLO, SPACE_HELLO);
    GIVES("hello  hello", false, TOKENIZER_PLAIN, HELLO, ' ', SPACE_HELLO);
    GIVES("llll", false, TOKENIZER_PLAIN, LL, LL);
    GIVES("lllhe", false, TOKENIZER_PLAIN, LL, 'l', HE);
    GIVES("he\303\274", false, TOKENIZER_PLAIN, HE, 0xc3, 0xbc);
    GIVES("he\377", false, TOKENIZER_PLAIN, HE, 0xff);
    GIVES("h\003e", false, TOKENIZER_PLAIN, 'h', 'e'); /* three words, one of no tokens */
    GIVES("abc", false, TOKENIZER_PLAIN, 'a', 'b', 'c');
    GIVES("two words", false, TOKENIZER_PLAIN, 't', 'w', 'o', ' ', 'w', 'o', 'r', 'd', 's');
    GIVES("he", false, TOKENIZER_BOS | TOKENIZER_EOS, BOS, HE, EOS);
    GIVES("", false, TOKENIZER_BOS | TOKENIZER_EOS, BOS, EOS);
    GIVES("he", false, TOKENIZER_BOS, BOS, HE);
}

static void test_special(void)
{
    GIVES("he<s>he", true, TOKENIZER_PLAIN, HE, BOS, HE);
    GIVES("he<s>", false, TOKENIZER_PLAIN, HE, '<', 's', '>');
    GIVES("<|x|>", false, TOKENIZER_PLAIN, '<', '|', 'x', '|', '>'); /* user-defined in the list */
    GIVES("<|x|>", true, TOKENIZER_PLAIN, CONTROL_X);
    GIVES("he<b>he", false, TOKENIZER_PLAIN, HE, USER_B, HE);
    GIVES("</s> \t\343\200\200\nhe", true, TOKENIZER_PLAIN, EOS, HE);
    GIVES("he \343\200\200\t<mask> he", true, TOKENIZER_PLAIN, HE, MASK, ' ', HE);
    GIVES(" \n<mask>", true, TOKENIZER_PLAIN, MASK);
    GIVES("</s> <mask>", true, TOKENIZER_PLAIN, EOS, MASK);
}

static void test_ignore_merges(void)
{
    list_hello(INGOT_IGNORE_MERGES);
    if (OK(open_listed(), "a section whose words are looked up first opens")) {
        GIVES("abc", false, TOKENIZER_PLAIN, ABC);
        GIVES("abcd", false, TOKENIZER_PLAIN, 'a', 'b', 'c', 'd');
        GIVES("he", false, TOKENIZER_BOS, HE); /* no such flag in this one */
    }
}

/* Kind 3: ids 0 to 6 are unk, bos, "a", "b", " a", "ab", <0x63>. */
static void test_characters(void)
{
    listed_begin(INGOT_TOKENIZER_CHARACTERS, INGOT_PRE_NONE, INGOT_ADD_SPACE_PREFIX);
    listed_add("<unk>", INGOT_TOKEN_UNKNOWN);
    listed_add("<s>", INGOT_TOKEN_CONTROL);
    listed_add("a", INGOT_TOKEN_NORMAL);
    listed_add("b", INGOT_TOKEN_NORMAL);
    listed_add("\342\226\201a", INGOT_TOKEN_NORMAL);
    listed_add("ab", INGOT_TOKEN_NORMAL);
    listed_add("<0x63>", INGOT_TOKEN_BYTE);
    listed_add("\342\226\201", INGOT_TOKEN_NORMAL);
    listed.source.vocab.unk = 0;
    listed.source.vocab.bos = 1;
    listed_merge("\342\226\201", "a");
    listed_merge("a", "b");
    if (!OK(open_listed(), "a section of characters by rank opens")) {
        return;
    }
    GIVES("ab", false, TOKENIZER_PLAIN, 4, 3);
    GIVES("ab", false, TOKENIZER_CONTINUE, 5);
    GIVES("bcxyb", false, TOKENIZER_CONTINUE, 3, 6, 0, 0, 3);
    listed.source.vocab.flags |= INGOT_FUSE_UNK;
    if (OK(open_listed(), "the same section opens with unknown characters fused")) {
        GIVES("xyb xx", false, TOKENIZER_CONTINUE, 0, 3, 7, 0);
        GIVES("xcx", false, TOKENIZER_CONTINUE, 0, 6, 0);
    }
}

/* ---- what the packer and the reader refuse --------------------------------------------------- */

static void test_bad_merges(void)
{
    list_hello(0);
    listed_merge("he", "x");
    OK(listed_section(&section_bytes) == NULL &&
           strstr(listed.source.error_message, "merge 6 (\"he\" and "
                                               "\"x\")") != NULL,
       "a merge without its token is refused: %s", listed.source.error_message);
    list_hello(0);
    listed.merges[2].right.bytes = 0;
    OK(listed_section(&section_bytes) == NULL &&
           strstr(listed.source.error_message, "merge 2") != NULL,
       "a merge without its second part is refused: %s", listed.source.error_message);
    list_hello(0);
    listed_merge("<", "s");
    listed.tokens[ABC].text = (const uint8_t *)"<s"; /* one that a text could go on from */
    listed.tokens[ABC].bytes = 2;
    listed_merge("<s", ">");
    listed.source.vocab.pre = INGOT_PRE_NONE;
    OK(open_listed() && t.merges->n_merges == 6, "a merge into a control token is left out");
    GIVES("<s>", false, TOKENIZER_PLAIN, ABC, '>');
}

static void refused(enum err expected, const char *words)
{
    struct image image = { .error_message = "" };
    enum err e = image_check_tokenizer(&image, section, section_bytes, EOS + 4);

    OK(e == expected && strstr(image.error_message, words) != NULL,
       "the section is refused (%d): %s", (int)e, image.error_message);
    open_listed();
}

static void test_reader(void)
{
    struct ingot_merges *m;
    struct ingot_merge *entry;

    list_hello(0);
    if (!OK(open_listed(), "the section to damage opens")) {
        return;
    }
#define MERGES() \
    (m = (void *)((struct ingot_tokenizer *)(void *)section + 1), \
     entry = (void *)(section + m->entries), (void)entry)
    MERGES();
    m->pre = INGOT_N_PRES;
    refused(ERR_UNSUPPORTED, "pre is 16");
    MERGES();
    m->reserved[3] = 1;
    refused(ERR_UNSUPPORTED, "reserved");
    MERGES();
    m->n_merges = 0x80000000;
    refused(ERR_BAD_TOKENIZER, "entries is");
    MERGES();
    m->rows = 0xfffffffc;
    refused(ERR_BAD_TOKENIZER, "rows is");
    MERGES();
    ((uint32_t *)(void *)(section + m->rows))['h'] = 7;
    refused(ERR_BAD_TOKENIZER, "rows descend");
    MERGES();
    m->n_merges = 4;
    refused(ERR_BAD_TOKENIZER, "rows do not run");
    MERGES();
    entry[0].id = BOS;
    refused(ERR_BAD_TOKENIZER, "makes no token");
    MERGES();
    entry[0].id = 0xfffffff0;
    refused(ERR_BAD_TOKENIZER, "makes no token");
    MERGES();
    entry[0].right = 0x10000000;
    refused(ERR_BAD_TOKENIZER, "makes no token");
    MERGES();
    entry[0].id = LL;
    refused(ERR_BAD_TOKENIZER, "makes no token");
    MERGES();
    section[t.head->types + 'a'] = INGOT_TOKEN_NORMAL | INGOT_TOKEN_RSTRIP;
    refused(ERR_BAD_TOKENIZER, "type of token 97 is 33");
    ((uint32_t *)(void *)(section + t.head->byte_tokens))['a'] = 'b';
    refused(ERR_BAD_TOKENIZER, "byte_tokens[97] is 98");
    section_bytes = 90;
    refused(ERR_BAD_TOKENIZER, "less than its two heads");
}

int main(void)
{
    test_words();
    test_special();
    test_ignore_merges();
    test_characters();
    test_bad_merges();
    test_reader();
    free(section);
    return tap_done();
}
