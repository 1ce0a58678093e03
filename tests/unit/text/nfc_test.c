/* Normalization form C: cases of the standard's own kinds (composition, order of marks, exclusions, single code points,
 * Hangul), bytes that are not UTF-8, runs of marks, and texts that lie where the result goes. */
#include <string.h>

#include "runtime/text/nfc.h"
#include "tests/unit/tap.h"

static bool gives(const char *text, const char *form)
{
    uint8_t out[512];
    size_t n = nfc_normalize((const uint8_t *)text, strlen(text), out, sizeof out);

    return n == strlen(form) && memcmp(out, form, n) == 0;
}

static void test_forms(void)
{
    static const struct {
        const char *what, *text, *form;
        bool stays; /* the text cannot change, which is seen at once */
    } rows[] = {
        { "ASCII", "cafe", "cafe", true },
        { "an empty text", "", "", true },
        { "Latin-1", "caf\u00e9 \u00df\u00fe", "caf\u00e9 \u00df\u00fe", true },
        { "Han, kana and syllables", "\u4e2d\u3042\ud55c", "\u4e2d\u3042\ud55c", true },
        { "e and an acute", "cafe\u0301", "caf\u00e9", false },
        { "two marks on one letter", "u\u0308\u0301", "\u01d8", false },
        { "marks in another order", "q\u0307\u0323", "q\u0323\u0307", false },
        { "a mark below goes first", "d\u0307\u0323", "\u1e0d\u0307", false },
        { "a composed letter and a mark below", "\u1e0b\u0323", "\u1e0d\u0307", false },
        { "a blocked mark", "a\u0305\u0301", "a\u0305\u0301", false },
        { "marks of one class keep their order", "a\u0301\u0300", "\u00e1\u0300", false },
        { "Angstrom is a letter", "\u212b\u2126\u2000", "\u00c5\u03a9\u2002", false },
        { "a compatibility ideograph", "\uf900\U0002f800", "\u8c48\u4e3d", false },
        { "nothing composes nukta", "\u0958", "\u0915\u093c", false },
        { "nor a note of music", "\U0001d15e", "\U0001d157\U0001d165", false },
        { "a mark of two", "\u0344", "\u0308\u0301", false },
        { "vowels of Bengali", "\u0995\u09c7\u09be", "\u0995\u09cb", false },
        { "beyond 16 bits", "\U00011099\U000110ba", "\U0001109a", false },
        { "parts alike in 16 bits", "\u1099\U000110ba", "\u1099\U000110ba", false },
        { "Hangul of three", "\u1112\u1161\u11ab", "\ud55c", false },
        { "Hangul of two", "\u1100\u1161", "\uac00", false },
        { "a syllable and its end", "\uac00\u11a8", "\uac01", false },
        { "a syllable that has an end", "\uac01\u11a8", "\uac01\u11a8", false },
        { "a syllable and no end", "\uac00\u11a7", "\uac00\u11a7", true },
        { "a mark in front", "\u0301e", "\u0301e", false },
        { "an unequal sign", "<\u0338", "\u226e", false },
        { "bytes that are not UTF-8", "e\xff\u0301\xc3", "e\xff\u0301\xc3", false },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t n = strlen(rows[i].text);
        bool stays = !nfc_may_change((const uint8_t *)rows[i].text, n);

        OK(gives(rows[i].text, rows[i].form) && stays == rows[i].stays, "the form is right: %s",
           rows[i].what);
        OK(gives(rows[i].form, rows[i].form), "%s: normalizing once more changes nothing",
           rows[i].what);
    }
}

/* Marks beyond what is put in order together begin anew. */
static void test_marks(void)
{
    char text[2 * 200 + 2] = "e", form[sizeof text];
    uint8_t out[600];
    size_t n;

    for (unsigned i = 0; i < 200; i++) {
        memcpy(text + 1 + 2 * i, "\u0301", 2);
    }
    n = nfc_normalize((const uint8_t *)text, 401, out, sizeof out);
    memcpy(form, "\u00e9", 2);
    memcpy(form + 2, text + 3, 398);
    OK(n == 400 && memcmp(out, form, n) == 0, "200 marks on one letter are kept");
}

static void test_room(void)
{
    uint8_t text[64] = "....cafe\u0301 \u0958";
    static const char form[] = "caf\u00e9 \u0915\u093c";
    uint8_t out[16];

    OK(nfc_normalize((const uint8_t *)"\u0958", 3, out, 5) == SIZE_MAX &&
           nfc_normalize((const uint8_t *)"\u0958", 3, out, 6) == 6,
       "a room of five bytes is too small for six");
    OK(nfc_normalize(text + 4, 10, text, 14) == sizeof form - 1 &&
           memcmp(text, form, sizeof form - 1) == 0,
       "a text may be written over what has been read before it");
    memcpy(text, "\u0958\u0958", 6);
    OK(nfc_normalize(text, 6, text, 6) == SIZE_MAX, "a text that grows does not fit its own place");
    memcpy(text, "\u0958abc", 6);
    OK(nfc_normalize(text, 6, text, sizeof text) == SIZE_MAX,
       "input that was not read yet is not overwritten");
    memcpy(text, "e\u0301e\u0301", 6);
    OK(nfc_normalize(text, 6, text, 6) == 4 && memcmp(text, "\u00e9\u00e9", 4) == 0,
       "a text that shrinks fits its own place");
}

int main(void)
{
    test_forms();
    test_marks();
    test_room();
    return tap_done();
}
