/* A conversation over a made-up model with a template: the contents of the cache turn after
 * turn. */
#include "tests/unit/chat/chat_rig.h"

/* Returns the ids that the reply printed. */
static unsigned printed_ids(uint32_t *ids, unsigned most)
{
    const char *at = strstr(text, "ids:");
    unsigned n = 0;

    for (at = at != NULL ? at + 4 : ""; *at == ' ' && n < most;)
        ids[n++] = (uint32_t)strtoul(at, (char **)(uintptr_t)&at, 10);
    return n;
}

/* Encodes a text as the template's part, trusted or not, in the middle of others. */
static size_t tokens_of(const char *a, const char *b, const char *c, unsigned flags, uint32_t *ids)
{
    struct tokenizer_part parts[3] = { { a, strlen(a), true },
                                       { b, strlen(b), false },
                                       { c, strlen(c), true } };
    size_t n = 0;

    if (tokenizer_encode_parts(&rig.model.tokenizer, parts, 3, flags, ids, 256, &n,
                               rig.session.scratch.memory, rig.session.scratch.bytes) != ERR_OK)
        rig_die("the text cannot be tokenized");
    return n;
}

/* Two turns in the template's form, and the whole first reply between them. */
static void test_conversation(void)
{
    struct session *s = &rig.session;
    uint32_t first[8], second[8], wanted[256], again[8];
    size_t n;

    start_over(5);
    OK(say("bade", true) == ERR_OK && printed_ids(first, 8) == 5,
       "a reply has five tokens with n=5");
    OK((rig.session.n_ids - rig.session.n_cached) == 1, "the fifth token is not in the cache yet");
    OK(say("gogo", true) == ERR_OK && printed_ids(second, 8) == 5, "a second turn is answered");
    n = tokens_of("[O][S]fine[/S][U]", "bade", "[/U][R]", TOKENIZER_BOS, wanted);
    memcpy(wanted + n, first, 5 * sizeof *first);
    n += 5;
    n += tokens_of("[/R][U]", "gogo", "[/U][R]", TOKENIZER_CONTINUE, wanted + n);
    memcpy(wanted + n, second, 5 * sizeof *second);
    n += 5;
    OK(s->n_cached + 1 == n && memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
       "the cache holds both turns as the template has them, and the first reply whole");
    start_over(5);
    OK(session_append(s, wanted, n - 5, NULL) == ERR_OK, "the same tokens are appended at once");
    for (int i = 0; i < 5; i++) {
        again[i] = sampler_pick(&chat.sampler, s->logits, s->model->image.header->params.vocab,
                                s->ids, s->n_cached, s->model->kernels, s->scratch.memory);
        session_append(s, &again[i], 1, NULL);
    }
    OK(memcmp(again, second, 5 * sizeof *second) == 0,
       "the same tokens continue as the second reply did");
}

static void test_stopped(void)
{
    struct session *s = &rig.session;
    uint32_t first[64], n, length;

    start_over(60);
    stop_after = 20;
    OK(say("bade", true) == ERR_ABORTED && strstr(text, "(stopped)") != NULL,
       "Ctrl-C stops the reply");
    n = printed_ids(first, 64);
    length = s->n_cached + 1;
    OK(n > 2 && n < 60 && (rig.session.n_ids - rig.session.n_cached) == 1 &&
           s->ids[length - 1] == first[n - 1],
       "the reply stops after %u tokens, and the last one is pending", n);
    OK(say("gogo", true) != ERR_NO_SPACE && memcmp(s->ids + length - n, first, n * 4) == 0,
       "the next turn begins behind the stopped reply");
}

static void test_full(void)
{
    struct session *s = &rig.session;
    uint32_t ids[300];
    char line[600];
    unsigned n;

    start_over(0);
    OK(say("bade", true) == ERR_OK, "a reply without n= is generated");
    n = printed_ids(ids, 300);
    if (strstr(text, "the context of 256 tokens is full") != NULL)
        OK(s->n_cached == 256 && memcmp(s->ids + 256 - n, ids, n * 4) == 0 &&
               (rig.session.n_ids - rig.session.n_cached) == 0,
           "a reply goes on to the context's end: %u tokens, all in the cache", n);
    else
        OK(s->n_cached < 256, "a reply ends by itself after %u tokens", n);
    memset(line, '$', sizeof line);
    line[sizeof line - 1] = '\0';
    start_over(0);
    OK(say(line, true) == ERR_TOO_LONG && strstr(text, "does not fit the context") != NULL &&
           s->n_cached == 0,
       "a prompt beyond the context is refused: %.60s", text);
    OK(say("bade", false) == ERR_OK && printed_ids(ids, 300) > 0,
       "a plain text after the refused one is answered");
    start_over(3);
    OK(say("bade", false) == ERR_OK && say("bade", false) == ERR_OK &&
           s->n_cached + 1 == tokens_of("", "bade", "", TOKENIZER_BOS, ids) + 3,
       "each plain text begins an empty context");
}

/* Returns the piece of a token that follows another. */
static const char *piece_of(uint32_t id, size_t *bytes)
{
    return tokenizer_piece(&rig.model.tokenizer, id, 5, bytes);
}

static void append_text(void *context, const char *more, size_t bytes)
{
    strncat(context, more, bytes);
}

/* A stop string across the border of two tokens that begins inside the first: the next turn sees
 * the text before it, and nothing else. */
static void test_stop_string(void)
{
    static const char *const notes[] = { "from the middle of a token", "from a token's beginning" };
    struct session *s = &rig.session;
    uint32_t first[24], wanted[256];
    unsigned at = 2;
    size_t bytes, next;

    start_over(20);
    options.show.quiet = true;
    OK(say("bade", true) == ERR_OK && printed_ids(first, 24) == 20 && strstr(text, "[") == NULL,
       "a reply of twenty tokens is printed without a figure");
    while (at < 16 && (piece_of(first[at], &bytes), bytes < 3))
        at++;
    if (!OK(at < 16, "the reply has a token of several bytes: %u", (unsigned)bytes))
        return;
    for (int whole = 0; whole < 2; whole++) {
        const char *piece = piece_of(first[at], &bytes), *behind = piece_of(first[at + 1], &next);
        char stop[64], reply[256] = "", head[8];
        struct utf8_writer shown = { .write = append_text, .context = reply };
        size_t n, n_head = whole ? 0 : 1;

        snprintf(stop, sizeof stop, "%.*s%.*s", (int)(bytes - n_head), piece + n_head,
                 next > 1 ? 1 : (int)next, behind);
        snprintf(head, sizeof head, "%.*s", (int)n_head, piece);
        for (unsigned i = 0; i < at; i++) {
            piece = piece_of(first[i], &next);
            utf8_writer_put(&shown, piece, next);
        }
        utf8_writer_put(&shown, head, n_head);
        utf8_writer_flush(&shown);
        if (strstr(reply, stop) != NULL)
            rig_die("the reply repeats itself");
        start_over(20);
        options_set(&options, "stop", stop, NULL);
        OK(say("bade", true) == ERR_OK && strncmp(text, reply, strlen(reply)) == 0 &&
               text[strlen(reply)] == '\n',
           "the reply ends before \"%s\", %s: %.60s", stop, notes[whole], text);
        options.reply.n_stops = 0;
        options.reply.n = 1;
        OK(say("gogo", true) == ERR_OK, "a second turn is answered");
        n = tokens_of("[O][S]fine[/S][U]", "bade", "[/U][R]", TOKENIZER_BOS, wanted);
        memcpy(wanted + n, first, at * sizeof *first);
        n += at;
        n += n_head != 0 ? tokens_of("", head, "", TOKENIZER_CONTINUE, wanted + n) : 0;
        n += tokens_of("[/R][U]", "gogo", "[/U][R]", TOKENIZER_CONTINUE, wanted + n);
        OK(s->n_cached == n && memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
           "the second turn sees the reply as it was shown");
    }
}

static void test_repetition(void)
{
    struct session *s = &rig.session;
    uint32_t ids[300];
    unsigned n, longest = 0;

    start_over(0);
    options.sampler.repeat = 0.5f; /* what was said is all the likelier */
    chat_open(&chat, &console, s, NULL, &options, NULL);
    OK(say("bade", true) == ERR_OK &&
           strstr(text,
                  "(stopped: the reply was repeating itself; try /set repeat 1.1, or /set n 200 "
                  "to let it run)") != NULL,
       "a reply that says the same over and over is stopped: %.60s",
       strchr(text, '(') != NULL ? strchr(text, '(') : "");
    n = printed_ids(ids, 300);
    for (unsigned period = 1; period < n; period++) {
        unsigned same = 0;

        while (same + period < n && ids[n - 1 - same] == ids[n - 1 - same - period])
            same++;
        longest = same > longest ? same : longest;
    }
    OK(n < 250 && longest == 128, "a reply stops after %u tokens, of which %u were the same again",
       n, longest);
    OK(s->n_cached + 1 < s->context && say("gogo", true) == ERR_OK,
       "the chat continues after the repetition");
    start_over(200);
    options.sampler.repeat = 0.5f;
    chat_open(&chat, &console, s, NULL, &options, NULL);
    OK(say("bade", true) == ERR_OK && printed_ids(ids, 300) == 200,
       "with n= a reply that repeats itself has all its tokens");
}

/* A stream that fails in a prompt leaves the conversation unchanged. */
static void test_failure(void)
{
    struct session *s = &rig.session;
    struct rig_limits l = rig_limits();
    uint32_t length;

    start_over(3);
    rig_start(l.least, 0, false);
    chat_open(&chat, &console, s, NULL, &options, NULL);
    say("bade", true);
    length = s->n_cached;
    rig.fake.fail_sector = (long)(s->model->image.segments[3].offset / SECTOR_BYTES);
    rig.fake.fail_times = 1000000;
    while (say("gogo", true) == ERR_OK) /* what is ahead may hide it for a pass */
        length = s->n_cached;
    OK(strstr(text, "error: models/made-up.ingot: layer 2, sector ") != NULL,
       "the error names layer and sector: %.120s", text + strspn(text, "\n"));
    rig.fake.fail_times = 0;
    OK(s->n_cached >= length && say("gogo", true) == ERR_OK,
       "the conversation continues after the card's error");
}

/* system= replaces the model's own prompt, and makes no block if it is empty. */
static void test_system(void)
{
    static const char *const given[] = { "bobo", "" };
    static const char *const fronts[] = { "[O][S]bobo[/S][U]", "[O][U]" };
    uint32_t wanted[256];

    for (int i = 0; i < 2; i++) {
        size_t n;

        start_over(1);
        options_set(&options, "system", given[i], NULL);
        OK(say("bade", true) == ERR_OK, "a turn with system=\"%s\" is answered", given[i]);
        n = tokens_of(fronts[i], "bade", "[/U][R]", TOKENIZER_BOS, wanted);
        OK(rig.session.n_cached == n && memcmp(rig.session.ids, wanted, n * sizeof *wanted) == 0,
           "the cache begins with %s", fronts[i]);
    }
}

/* Returns the index of a token of the first reply, not its last, that its own text encodes to; or
 * 0. */
static unsigned find_marker(const uint32_t *reply, unsigned n, char marker[64])
{
    const struct tokenizer *t = &rig.model.tokenizer;

    for (unsigned i = 1; i + 1 < n; i++) {
        uint32_t id[256];

        snprintf(marker, 64, "%.*s", (int)tokenizer_text_bytes(t, reply[i]),
                 tokenizer_text(t, reply[i]));
        if (reply[i - 1] != reply[i] && reply[i + 1] != reply[i] &&
            tokens_of(marker, "", "", TOKENIZER_CONTINUE, id) == 1 && id[0] == reply[i])
            return i;
    }
    return 0;
}

/* The next turn's cache lacks the reply's text up to the end of its thoughts. */
static void test_thoughts(const char *strings[INGOT_CHAT_STRINGS])
{
    struct session *s = &rig.session;
    uint32_t first[16], wanted[256];
    static char marker[64]; /* strings points to it in the tests after this */
    unsigned at, last;
    size_t n;

    start_over(12);
    OK(say("bade", true) == ERR_OK && printed_ids(first, 16) == 12,
       "a reply of twelve tokens is printed");
    at = find_marker(first, 12, marker);
    if (!OK(at != 0, "a token can end the thoughts: %u, \"%s\"", at, marker))
        return;
    for (last = at + 1; last < 12; last++)
        at = first[last] == first[at] ? last : at; /* the last one counts */
    strings[INGOT_CHAT_THINK_END] = marker;
    strings[INGOT_CHAT_NO_THINKING] = "[N]";
    put_template(strings);
    start_over(12);
    OK(chat.think_end == first[at], "the token that ends thoughts is known");
    say("bade", true);
    options.reply.n = 3;
    OK(say("gogo", true) == ERR_OK, "a second turn is answered");
    n = tokens_of("[O][S]fine[/S][U]", "bade", "[/U][R]", TOKENIZER_BOS, wanted);
    memcpy(wanted + n, first + at + 1, (11 - at) * sizeof *first);
    n += 11 - at;
    n += tokens_of("[/R][U]", "gogo", "[/U][R]", TOKENIZER_CONTINUE, wanted + n);
    OK(s->n_cached == n + 2 && memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
       "the second turn has only the %u tokens after the thoughts", 11 - at);
    OK(chat.reply_start == n, "the next turn's own reply begins behind the tokens that it keeps");
    start_over(2);
    options_set(&options, "think", "off", NULL);
    OK(say("bade", true) == ERR_OK, "a turn with think=off is answered");
    n = tokens_of("[O][S]fine[/S][U]", "bade", "[/U][R][N]", TOKENIZER_BOS, wanted);
    OK(chat.reply_start == n && memcmp(s->ids, wanted, n * sizeof *wanted) == 0,
       "think=off puts its mark in front of the reply");
}

/* A template that opens thoughts: all of a short reply is thoughts. */
static void test_hidden_thoughts(const char *strings[INGOT_CHAT_STRINGS])
{
    const char *prefix = strings[INGOT_CHAT_REPLY_PREFIX];
    char plain[1000];

    strings[INGOT_CHAT_REPLY_PREFIX] = "[R]<think>\n";
    put_template(strings);
    start_over(5);
    options.show.quiet = true;
    OK(say("bade", true) == ERR_OK, "a reply with thoughts is generated");
    *strstr(text, "\nids:") = '\0';
    snprintf(plain, sizeof plain, "%.900s", text);
    start_over(5);
    options.reply.think = THINK_HIDE;
    OK(say("bade", true) == ERR_OK && strncmp(text, "(thinking: 5 tokens)\n\n[", 23) == 0,
       "thoughts are hidden: %.30s", text);
    start_over(5);
    console_find_terminal(&console, CONSOLE_VT);
    say("bade", true);
    OK(strstr(text, "\33[2m") != NULL && strstr(text, plain) == strstr(text, "\33[2m") + 4 &&
           strncmp(strstr(text, plain) + strlen(plain), "\33[0m", 4) == 0,
       "the thoughts are dimmed on a terminal");
    start_over(5);
    console_find_terminal(&console, CONSOLE_VT);
    options.show.quiet = true;
    OK(say("bade", false) == ERR_OK && strstr(text, "\33[2m") == NULL,
       "a plain text has no dim thoughts");
    strings[INGOT_CHAT_REPLY_PREFIX] = prefix;
    put_template(strings);
}

/* Several stop tokens: the token that the model would say first is one of them. */
static void test_stops(const char *const strings[INGOT_CHAT_STRINGS])
{
    struct ingot_header *h = (void *)rig.packed;
    struct ingot_chat *c = (void *)(rig.packed + h->chat.offset);
    uint32_t first[8];

    start_over(3);
    say("bade", true);
    printed_ids(first, 8);
    c->n_stops = 2;
    c->stops[0] = first[0] == 5 ? 6 : 5;
    c->stops[1] = first[0];
    put_template(strings);
    start_over(3);
    OK(say("bade", true) == ERR_OK && printed_ids(first, 8) == 0,
       "the second of the stop tokens ends a reply");
}

int main(void)
{
    const char *strings[INGOT_CHAT_STRINGS];

    memcpy(strings, test_template, sizeof strings);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    put_template(strings);
    test_conversation();
    test_stopped();
    test_full();
    test_stop_string();
    test_repetition();
    test_failure();
    test_system();
    test_thoughts(strings);
    test_hidden_thoughts(strings);
    test_stops(strings);
    return tap_done();
}
