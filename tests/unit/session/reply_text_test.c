/* A reply's text against a plain search, in any pieces; thoughts shown, dimmed and hidden. */
#include "runtime/session/reply_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/options/options.h"
#include "runtime/chat/thoughts.h"
#include "tests/unit/tap.h"

enum { MOST = 4096 };

static struct options options;
static struct reply_text reply;
static char shown[MOST];
static size_t n_shown;

static void keep(void *context, const char *text, size_t bytes)
{
    (void)context;
    if (n_shown + bytes < MOST) {
        memcpy(shown + n_shown, text, bytes);
        n_shown += bytes;
    }
    shown[n_shown] = '\0';
}

static void dim(void *context, bool on)
{
    keep(context, on ? "\33[2m" : "\33[22m", on ? 4 : 5);
}

static struct reply_stops stops;
static struct thoughts thoughts;

static void take_text(void *context, const char *text, size_t bytes)
{
    thoughts_write(context, text, bytes);
}

static void take_turn(void *context, bool begins)
{
    thoughts_turn(context, begins);
}

static void put(const char *text, size_t bytes)
{
    reply_text_put(&reply, text, bytes);
    thoughts_end_token(&thoughts);
}

static void begin(bool inside)
{
    static const struct reply_text_out out = { &thoughts, take_text, take_turn };

    n_shown = 0;
    shown[0] = '\0';
    thoughts = (struct thoughts){ .write = keep, .dim = dim };
    thoughts_open(&thoughts, options.reply.think);
    stops.n = options.reply.n_stops;
    for (uint32_t i = 0; i < stops.n; i++)
        stops.text[i] = options.reply.stop[i];
    reply_text_open(&reply, &stops, inside, &out);
}

/* Feeds pieces of 1 to `most` bytes. Returns the bytes that were shown before the end. */
static size_t feed(const char *text, size_t most)
{
    size_t left = strlen(text), before;

    while (left != 0 && !reply.stopped) {
        size_t n = 1 + (size_t)rand() % most;

        n = n < left ? n : left;
        put(text, n);
        text += n;
        left -= n;
    }
    before = n_shown;
    reply_text_end(&reply);
    return before;
}

static void set_stops(const char *a, const char *b, const char *c)
{
    const char *const given[] = { a, b, c };

    options_init(&options);
    for (int i = 0; i < 3; i++)
        if (given[i] != NULL && options_set(&options, "stop", given[i], NULL) != ERR_OK)
            OK(false, "stop=%s is taken", given[i]);
}

/* Returns the start of the first stop string that becomes complete, of the longest if there are
 * several; or the end. */
static size_t first_stop(const char *text)
{
    for (size_t end = 1; end <= strlen(text); end++) {
        size_t longest = 0;

        for (uint32_t i = 0; i < options.reply.n_stops; i++) {
            size_t n = strlen(options.reply.stop[i]);

            if (n <= end && n > longest && memcmp(text + end - n, options.reply.stop[i], n) == 0)
                longest = n;
        }
        if (longest != 0)
            return end - longest;
    }
    return SIZE_MAX;
}

static bool stops_at(const char *text, const char *expected, size_t most)
{
    begin(false);
    feed(text, most);
    return strcmp(shown, expected) == 0 && reply.stopped == (strcmp(text, expected) != 0) &&
           (!reply.stopped || reply.shown == strlen(expected));
}

static void test_stops(void)
{
    set_stops("User:", NULL, NULL);
    OK(stops_at("Hello.\nUser: what", "Hello.\n", 3), "a stop string of several tokens is found");
    OK(stops_at("Hello User", "Hello User", 3),
       "the beginning of a stop string comes out at the end");
    OK(stops_at("UseUser:", "Use", 1) && stops_at("UUUser:", "UU", 4),
       "a false start before the stop string does not matter");
    OK(stops_at("User:", "", 99) && stops_at("xUser:yUser:", "x", 99),
       "a stop in the middle of a token is found");
    begin(false);
    put("so Us", 5);
    OK(strcmp(shown, "so ") == 0, "text that may begin a stop string is held back: \"%s\"", shown);
    put("e it", 4);
    OK(strcmp(shown, "so Use it") == 0,
       "held text comes when it does not begin a stop string: \"%s\"", shown);
    set_stops("abcd", "bc", NULL);
    OK(stops_at("xabcd", "xa", 1), "a short stop string inside a longer one ends first");
    set_stops("aab", "ab", "b");
    OK(stops_at("xaab", "x", 2), "the longest of the stop strings that end together counts");
    OK(reply.which == 0 && stops_at("xb", "x", 2) && reply.which == 2 && stops_at("xab", "x", 1) &&
           reply.which == 1,
       "the reply knows which stop string has come");
    set_stops("caf\xc3\xa9", NULL, NULL);
    OK(stops_at("un caf\xc3\xa9!", "un ", 1), "a character of several bytes is shown whole");
    begin(false);
    feed("caf\xc3", 1);
    OK(strcmp(shown, "caf\xef\xbf\xbd") == 0 && !reply.stopped,
       "half of a character at the end becomes U+FFFD");
    set_stops(NULL, NULL, NULL);
    OK(stops_at("anything", "anything", 3), "the text goes on without a stop string");
}

static void test_random_stops(void)
{
    unsigned wrong = 0, stopped = 0;

    for (int i = 0; i < 20000; i++) {
        char text[60], stop[3][12];
        size_t n = (size_t)rand() % 50, at;

        for (int k = 0; k < 3; k++) {
            size_t bytes = 1 + (size_t)rand() % 8;

            for (size_t j = 0; j < bytes; j++)
                stop[k][j] = "ab"[rand() % 2];
            stop[k][bytes] = '\0';
        }
        for (size_t j = 0; j < n; j++)
            text[j] = "abc"[rand() % 40 == 0 ? 2 : rand() % 2];
        text[n] = '\0';
        set_stops(stop[0], rand() % 2 ? stop[1] : NULL, rand() % 2 ? stop[2] : NULL);
        at = first_stop(text);
        begin(false);
        feed(text, 1 + (size_t)rand() % 9);
        stopped += at != SIZE_MAX;
        n = at != SIZE_MAX ? at : n;
        wrong += n_shown != n || memcmp(shown, text, n) != 0 || reply.stopped != (at != SIZE_MAX);
    }
    OK(wrong == 0 && stopped > 1000, "the search is as a plain one, %u of 20000 stopped (%u wrong)",
       stopped, wrong);
}

static bool becomes(enum option_think think, bool inside, const char *text, const char *expected)
{
    options_init(&options);
    options.reply.think = think;
    for (size_t most = 1; most < 12; most += 5) {
        begin(inside);
        feed(text, most);
        if (strcmp(shown, expected) != 0 && think != THINK_HIDE) {
            printf("# \"%s\"\n", shown);
            return false;
        }
    }
    if (think == THINK_HIDE) { /* a token a byte, as the count has it */
        begin(inside);
        feed(text, 1);
        if (strcmp(shown, expected) != 0)
            printf("# \"%s\"\n", shown);
        return strcmp(shown, expected) == 0;
    }
    return true;
}

#define DIM(text) "\33[2m" text "\33[22m"

static void test_thoughts(void)
{
    static const char both[] = "<think>\nwell\n</think>\n\nYes.";

    OK(becomes(THINK_ON, false, both, DIM("<think>\nwell\n</think>") "\n\nYes."),
       "thoughts are dimmed");
    OK(becomes(THINK_DIM, false, both, DIM("<think>\nwell\n</think>") "\n\nYes."),
       "think=dim dims the thoughts");
    OK(becomes(THINK_SHOW, false, both, both), "think=show shows the thoughts as they are");
    OK(becomes(THINK_HIDE, false, both, "(thinking: 14 tokens)\nYes."),
       "the thoughts are hidden, with a count");
    OK(becomes(THINK_HIDE, true, "mmm</think>Yes <think>.", "(thinking: 10 tokens)\nYes <think>."),
       "thoughts are hidden if the template opens them");
    OK(becomes(THINK_HIDE, false, "\n [THINK]a[/THINK] b", "\n (thinking: 9 tokens)\nb"),
       "other marks of thoughts are found, after white space");
    OK(becomes(THINK_HIDE, false, "A <think> in a text</think>", "A <think> in a text</think>"),
       "a mark further on is text");
    OK(becomes(THINK_HIDE, false, "<thin ice>", "<thin ice>") &&
           becomes(THINK_HIDE, false, "<thinner>", "<thinner>") &&
           becomes(THINK_HIDE, false, "<<think>", "<<think>"),
       "text that only looks like a mark is text");
    OK(becomes(THINK_ON, false, "<think>endless</thi", DIM("<think>endless</thi")),
       "the terminal is bright again when a reply is cut off");
    OK(becomes(THINK_HIDE, false, "<think>endless </thought", "(thinking.: 18 tokens)\n"),
       "hidden thoughts are counted when a reply is cut off");
    OK(becomes(THINK_ON, false, "<think>a\xc3</think>\xa9",
               DIM("<think>a\xef\xbf\xbd</think>") "\xef\xbf\xbd"),
       "a character that a mark cuts becomes U+FFFD");
    options_init(&options);
    options_set(&options, "stop", "</think>", NULL);
    begin(false);
    feed("<think>no</think>yes", 4);
    OK(strcmp(shown, DIM("<think>no")) == 0 && reply.shown == 9,
       "a stop string within thoughts ends the reply");
    OK(reply_text_is_mark("</think>", 8) && reply_text_is_mark("[THINK]", 7) &&
           !reply_text_is_mark("</think> ", 9) && reply_text_opens("A:<think>\n", 10) &&
           !reply_text_opens("</think>\n", 9) && !reply_text_opens("think>", 6),
       "the marks of thoughts are recognized");
}

int main(void)
{
    srand(1);
    test_stops();
    test_random_stops();
    test_thoughts();
    return tap_done();
}
