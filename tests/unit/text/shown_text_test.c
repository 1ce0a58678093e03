/* Foreign text on its way to a terminal: every control character, cut in every way. */
#include <string.h>

#include "runtime/text/shown_text.h"
#include "tests/unit/tap.h"

#define FFFD UTF8_REPLACEMENT

static char out[4096];
static size_t n_out, n_writes;

static void keep(void *context, const char *text, size_t bytes)
{
    (void)context;
    memcpy(out + n_out, text, bytes);
    n_out += bytes;
    n_writes++;
}

/* In portions of so many bytes. */
static bool shows(const char *text, size_t bytes, size_t portion, const char *expected)
{
    struct shown_text t = { .write = keep };

    n_out = 0;
    for (size_t i = 0; i < bytes; i += portion) {
        shown_text_put(&t, text + i, i + portion > bytes ? bytes - i : portion);
    }
    shown_text_flush(&t);
    if (n_out == strlen(expected) && memcmp(out, expected, n_out) == 0) {
        return true;
    }
    printf("# \"%.*s\" for \"%s\"\n", (int)n_out, out, expected);
    return false;
}

/* Whole, and cut between any two bytes. */
static bool becomes(const char *text, const char *expected)
{
    bool good = true;

    for (size_t portion = 1; portion <= strlen(text); portion++) {
        good = good && shows(text, strlen(text), portion, expected);
    }
    return good;
}

static void test_attacks(void)
{
    OK(becomes("\33]52;c;cm0gLXJmIH4=\a", FFFD "]52;c;cm0gLXJmIH4=" FFFD),
       "OSC 52 does not write the clipboard");
    OK(becomes("\33[6n", FFFD "[6n"), "CSI 6n does not type into the input");
    OK(becomes("\302\233"
               "6n\302\235",
               FFFD "6n" FFFD),
       "a C1 control in UTF-8 does not type into the input");
    OK(becomes("\233"
               "6n\220",
               FFFD "6n" FFFD),
       "a C1 control of one byte does not type into the input");
    OK(becomes("\023\021", FFFD FFFD), "XOFF and XON are replaced");
    OK(becomes("\177\b", FFFD FFFD), "DEL and BS are replaced");
    OK(becomes("a\342\200\256b\342\201\246c\342\200\217\330\234", "a" FFFD "b" FFFD "c" FFFD FFFD),
       "overrides, isolates and marks of direction are replaced");
    OK(becomes("ok\rno", "ok" FFFD "no") && becomes("\r\r\n\r", FFFD "\n" FFFD),
       "CR does not write over a line");
    OK(becomes("\302\33[m", FFFD FFFD "[m"), "a control that cuts a character is replaced");
}

static void test_text(void)
{
    OK(becomes("a\tb\nc\r\n", "a\tb\nc\n"),
       "tab and newline pass, and other line ends become newlines");
    OK(becomes(
           "caf\303\251 \346\227\245\360\237\230\200 e\314\201\342\200\215x\302\240\342\200\213",
           "caf\303\251 \346\227\245\360\237\230\200 e\314\201\342\200\215x\302\240\342\200\213"),
       "text with marks, joiners and wide characters passes unchanged");
    OK(becomes("\355\237\277\356\200\200\364\217\277\277",
               "\355\237\277\356\200\200\364\217\277\277"),
       "the last character passes");
    n_writes = 0;
    (void)shows("a\303\251\0z", 5, 5, "");
    OK(n_writes == 4 && memcmp(out + 3, FFFD, 3) == 0,
       "a NUL is replaced as well, one character a write");
}

/* Tries each code point of the first two planes' beginning, and all controls. */
static void test_every_character(void)
{
    unsigned passed = 0, wrong = 0;

    for (uint32_t code = 0; code < 0x3000; code++) {
        bool control = (code < 32 && code != '\n' && code != '\t') || (code >= 127 && code < 160) ||
                       code == 0x61c || code == 0x200e || code == 0x200f ||
                       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
        struct shown_text t = { .write = keep };
        char text[4];
        size_t bytes = utf8_encode(text, code);

        n_out = 0;
        shown_text_put(&t, text, bytes);
        shown_text_flush(&t);
        if (control) {
            wrong += n_out != 3 || memcmp(out, FFFD, 3) != 0;
        } else {
            passed++;
            wrong += n_out != bytes || memcmp(out, text, bytes) != 0;
        }
    }
    OK(wrong == 0 && passed == 0x3000 - 30 - 33 - 12,
       "characters below U+3000 pass unless they are controls: %u pass", passed);
}

static bool names(const char *name, size_t room, const char *want)
{
    char is[64];

    memset(is, 'x', sizeof is);
    return strcmp(shown_name(is, room, name), want) == 0 && is[room] == 'x';
}

static void test_names(void)
{
    OK(names("a\nb\r\nc\td", 60, "a" FFFD "b" FFFD FFFD "c" FFFD "d"), "a name is one line");
    OK(names("\33[2J\302\205\342\200\256x\377", 60, FFFD "[2J" FFFD FFFD "x" FFFD),
       "a name cannot change the terminal");
    OK(names("a\342\200\250b\342\200\251c\342\200\213d\342\201\240e\357\273\277f", 60,
             "a" FFFD "b" FFFD "c" FFFD "d" FFFD "e" FFFD "f"),
       "separators, and characters without width, are replaced");
    OK(names("\342\200\215 \342\200\234M\303\274ller\342\200\235 \347\214\253", 60,
             "\342\200\215 \342\200\234M\303\274ller\342\200\235 \347\214\253"),
       "letters of any script, and joiners, stay");
    OK(names("M\303\274ller", 3, "M") && names("M\303\274ller", 4, "M\303\274") &&
           names("", 1, "") && names("a\nb", 4, "a"),
       "a name is cut between characters");
}

int main(void)
{
    test_attacks();
    test_text();
    test_every_character();
    test_names();
    return tap_done();
}
