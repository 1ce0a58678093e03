/* The grammar of a table, made on the board: it takes what the reader of calls takes, all prose,
 * every number of a range and no other; it takes nothing else that begins with a brace. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/features/grammar/grammar_machine.h"
#include "tests/unit/acting/fake_lines.h"
#include "tests/unit/tap.h"

static struct actions a;
static struct grammar_machine machine;
static struct grammar grammar;
static _Alignas(16) uint8_t memory[INGOT_GRAMMAR_BYTES], work[ACTIONS_WORK_BYTES];

static bool make(const char *pins, const char *file, size_t *bytes)
{
    const char *error_message;

    fake_open(&a, pins, file, true);
    return actions_grammar(&a, memory, sizeof memory, work, bytes) == ERR_OK &&
           grammar_open(&grammar, memory, *bytes, &error_message) == ERR_OK;
}

/* Whether the grammar takes all of a text. *whole: the text may end there. */
static bool takes(const char *text, bool *whole)
{
    grammar_begin(&machine, &grammar);
    for (; *text != '\0'; text++) {
        if (!grammar_push(&machine, 0, (uint8_t)*text)) {
            *whole = false;
            return false;
        }
        grammar_settle(&machine, 1);
    }
    *whole = grammar_accepts(&machine, 0);
    return true;
}

static bool is_whole(const char *text)
{
    bool whole;

    return takes(text, &whole) && whole;
}

static bool is_call(const char *text)
{
    struct action_call c;
    char copy[256], error_message[ACTION_TEXT_BYTES];
    size_t n = strlen(text);

    memcpy(copy, text, n + 1);
    return action_call_read(&a, copy, n, &c, error_message) == ACTION_CALLED;
}

static void test_texts(void)
{
    static const char *const whole[] = { "",
                                         "Hello.",
                                         " Hello {\"action\"",
                                         "\n",
                                         "a\nb\n{",
                                         "\303\244",
                                         "{\"action\":\"light\",\"value\":\"on\"}",
                                         " \n{\"action\":\"light\",\"value\":\"off\"}",
                                         "{\"action\":\"lights\",\"value\":\"off\"}",
                                         "{\"action\":\"door\"}",
                                         "{\"action\":\"uptime\"}",
                                         "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":500}" };
    static const char *const no[] = { "{",
                                      "{}",
                                      "{ \"action\":\"door\"}",
                                      "{\"action\":\"door\"",
                                      "{\"action\":\"door\"}}",
                                      "{\"action\":\"door\"} ",
                                      "{\"action\":\"door\",\"value\":\"on\"}",
                                      "{\"action\":\"lamp\",\"value\":\"on\"}",
                                      "{\"action\":\"ligh\",\"value\":\"on\"}",
                                      "{\"action\":\"light\"}",
                                      "{\"action\":\"light\",\"value\":\"purple\"}",
                                      "{\"action\":\"pulse\",\"line\":\"door\",\"ms\":500}",
                                      "{\"action\":\"pulse\",\"line\":\"lights\",\"ms\":500}",
                                      "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":0}",
                                      "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":05}",
                                      "{\"action\":\"pulse\",\"ms\":5,\"line\":\"light\"}",
                                      "{\"action\":\"pulse\",\"line\":\"light\",\"ms\":5001}" };
    size_t bytes;

    OK(make("light:3,fan:4,door:5:in,lights:6", "pulse light|fan ms 1..5000", &bytes),
       "the grammar of a table is made, %lu bytes", (unsigned long)bytes);
    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        OK(is_whole(whole[i]), "the grammar takes a whole call: %s", whole[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        OK(!is_whole(no[i]), "the grammar refuses what is not a call: %s", no[i]);
    }
    OK(is_whole("{\"action\":\"door\"}") && !grammar_goes_on(&machine, 0),
       "nothing follows a call");
}

static bool has_all(uint32_t least, uint32_t most)
{
    char file[64], text[96];
    size_t bytes;

    snprintf(file, sizeof file, "pulse a ms %u..%u", (unsigned)least, (unsigned)most);
    if (!make("a:1", file, &bytes)) {
        return false;
    }
    for (uint32_t n = 0; n <= most + 9999; n++) {
        snprintf(text, sizeof text, "{\"action\":\"pulse\",\"line\":\"a\",\"ms\":%u}", (unsigned)n);
        if (is_whole(text) != (n >= least && n <= most)) {
            printf("# %u of %u..%u\n", (unsigned)n, (unsigned)least, (unsigned)most);
            return false;
        }
    }
    return true;
}

static void test_ranges(void)
{
    static const uint32_t ranges[][2] = { { 1, 5000 },  { 1, 1 },         { 7, 13 },
                                          { 9, 10 },    { 34, 51 },       { 99, 1000 },
                                          { 1, 60000 }, { 12345, 54321 }, { 999, 10001 },
                                          { 7, 98 },    { 1, 1998 } };

    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        OK(has_all(ranges[i][0], ranges[i][1]),
           "the grammar takes every number of %u..%u, and no other", (unsigned)ranges[i][0],
           (unsigned)ranges[i][1]);
    }
}

/* Changes calls at random: whatever the grammar lets a model end with is a call that the table
 * has. */
static void test_changed(void)
{
    static const char *const seeds[] = { "{\"action\":\"light\",\"value\":\"on\"}",
                                         "{\"action\":\"fan\",\"value\":\"off\"}",
                                         "{\"action\":\"pulse\",\"line\":\"fan\",\"ms\":4321}",
                                         "{\"action\":\"temperature\"}" };
    static const char letters[] = "{}\":,onflighta0123456789 \\u";
    size_t bytes;
    unsigned n_whole = 0, n_wrong = 0;
    uint32_t state = 1;

    (void)make("light:3,fan:4,door:5:in,lights:6", "pulse light|fan ms 1..5000", &bytes);
    for (unsigned i = 0; i < 200000; i++) {
        char text[96];
        size_t n;

        snprintf(text, sizeof text, "%s", seeds[i % 4]);
        n = strlen(text);
        for (unsigned k = 0; k < 1 + i % 3; k++) {
            state = state * 1664525 + 1013904223;
            text[1 + (state >> 8) % (n - 1)] = letters[(state >> 24) % (sizeof letters - 1)];
        }
        if (is_whole(text)) {
            n_whole++;
            n_wrong += !is_call(text);
        }
    }
    OK(n_whole > 1000 && n_wrong == 0,
       "of %u changed calls that are whole, %u are not in the table", n_whole, n_wrong);
}

static void test_largest(void)
{
    size_t bytes;

    OK(make(
           "abcdefghijklmnop_a:0,bbcdefghijklmnop_b:1,cbcdefghijk_c:2,dcdefghijklm_d:3,"
           "eabcdefghij_e:4,fbcdefghijklm_f:5,gbcdefghijklmn_g:6,h:7,i:8,j:9,k:10,l:11,m:12,"
           "n:13,o:15,p:16",
           "pulse abcdefghijklmnop_a|bbcdefghijklmnop_b|cbcdefghijk_c|dcdefghijklm_d|h|i|j|k|l|m|n|o|p "
           "ms 123..54321",
           &bytes),
       "a long table has room: %lu bytes", (unsigned long)bytes);
    OK(is_whole("{\"action\":\"pulse\",\"line\":\"p\",\"ms\":54321}"),
       "the grammar takes its last line");
    OK(actions_grammar(&a, memory, bytes - 4, work, &bytes) == ERR_TOO_LONG,
       "a grammar that needs more room than there is is refused");
}

int main(void)
{
    test_texts();
    test_ranges();
    test_changed();
    test_largest();
    return tap_done();
}
