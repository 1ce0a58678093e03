/* generate() without a console: the calls of the sink, why a reply ends, and a constraint that
 * holds with guesses as well as without. */
#include "runtime/session/generate.h"

#include <math.h>

#include "flash_image/grammar/grammar_compile.h"
#include "runtime/features/grammar/grammar_constraint.h"
#include "tests/unit/session/draft.h"

enum { MOST = 300, N_PROMPT = 5 };

/* Records everything that a sink is told, in order. */
static struct said {
    uint32_t ids[MOST];
    unsigned n_ids, n_begins, n_open, n_wrong, n_thoughts, n_rooms;
    char text[8192];
    size_t bytes;
} said;

static unsigned stop_after; /* tokens; 0: never */

static void said_begin(void *context)
{
    (void)context;
    said.n_wrong += said.n_begins != 0 || said.n_ids != 0;
    said.n_begins++;
}

static void said_token_begin(void *context, uint32_t id)
{
    (void)context;
    said.n_wrong += said.n_open++ != 0 || said.n_ids == MOST;
    if (id != INGOT_NO_TOKEN)
        said.ids[said.n_ids++] = id;
}

static void said_token_end(void *context)
{
    (void)context;
    said.n_wrong += said.n_open-- != 1;
}

static void said_text(void *context, const char *text, size_t bytes)
{
    (void)context;
    said.n_wrong += said.n_open != 1;
    if (said.bytes + bytes < sizeof said.text) {
        memcpy(said.text + said.bytes, text, bytes);
        said.bytes += bytes;
    }
}

static void said_think(void *context, bool begins)
{
    (void)context;
    said.n_thoughts += begins;
}

static enum err said_make_room(void *context, uint32_t *first_new)
{
    (void)context;
    (void)first_new;
    said.n_rooms++;
    return ERR_NO_SPACE;
}

static bool said_enough(void *context)
{
    (void)context;
    return stop_after != 0 && said.n_ids >= stop_after;
}

static const struct generate_sink sink = { NULL,      said_begin, said_token_begin, said_token_end,
                                           said_text, said_think, said_make_room,   NULL };
static struct generate_result result;

enum form { PLAIN, NGRAM, DRAFT };

static float own_presence;

/* Makes a reply to the same prompt. */
static enum err reply(enum form form, float temp, const struct generate_params *params)
{
    static const struct stop stop = { said_enough, NULL };
    static struct speculative speculative;
    struct sampler_params sampling;
    struct speculative_params guessing = { form == NGRAM ? SPECULATIVE_NGRAM : SPECULATIVE_AUTO,
                                           form == DRAFT };
    struct sampler sampler;
    struct generator generator = { &rig.session, &speculative, &sampler, NULL };
    struct generate_params own = *params;
    uint32_t ids[N_PROMPT];

    if (form == DRAFT) {
        start_with_draft(0);
    } else {
        rig.guesses = form == NGRAM ? MODEL_GUESSES : MODEL_NO_GUESSES;
        if (rig_start(0, 0, false) != ERR_OK)
            rig_die(rig.model.error_message);
    }
    speculative_open(&speculative, &rig.session, form == DRAFT ? &draft_session : NULL, &guessing);
    sampler_params_default(&sampling);
    sampling.temp = temp;
    sampling.seed = 11;
    sampling.presence = own_presence;
    sampler_init(&sampler, &sampling);
    rig_ids(ids, N_PROMPT);
    memset(&said, 0, sizeof said);
    own.stop = &stop;
    (void)session_put(&rig.session, ids, N_PROMPT);
    return generate(&generator, &own, &sink, &result);
}

/* Returns the likeliest token after the first n of the session's ids, with the penalty for the
 * reply. */
static uint32_t penalized(uint32_t n, float presence)
{
    const struct session *s = &rig.session;
    uint32_t best = 0, vocab = s->model->image.header->params.vocab;

    for (uint32_t id = 0; id < vocab; id++)
        for (uint32_t i = N_PROMPT, had = 0; i < n && had == 0; i++)
            if (said.ids[i - N_PROMPT] == id) {
                s->logits[id] -= presence;
                had = 1;
            }
    for (uint32_t id = 1; id < vocab; id++)
        if (s->logits[id] > s->logits[best])
            best = id;
    return best;
}

/* The penalty counts the reply's tokens and not the prompt's, in each way to generate. */
static void test_penalty(void)
{
    static const enum form forms[] = { PLAIN, NGRAM, DRAFT };
    const struct generate_params params = { .limit = 20 };
    static struct said plain, want;
    uint32_t ids[N_PROMPT], right = 0;

    (void)reply(PLAIN, 0, &params);
    plain = said;
    own_presence = 1.5f;
    for (size_t i = 0; i < 3; i++) {
        OK(reply(forms[i], 0, &params) == ERR_OK && said.n_ids == 20,
           "a reply with a penalty is generated");
        if (i == 0)
            want = said;
        OK(memcmp(want.ids, said.ids, 20 * sizeof *want.ids) == 0,
           "a reply with a penalty is the same in each form");
    }
    own_presence = 0;
    OK(memcmp(plain.ids, want.ids, 20 * sizeof *want.ids) != 0,
       "a reply with a penalty differs from one without");
    said = want;
    rig_ids(ids, N_PROMPT);
    session_clear(&rig.session);
    if (session_append(&rig.session, ids, N_PROMPT, NULL) != ERR_OK)
        rig_die("the prompt");
    for (uint32_t i = 0; i < 20; i++) {
        right += penalized(N_PROMPT + i, 1.5f) == want.ids[i];
        if (session_append(&rig.session, &want.ids[i], 1, NULL) != ERR_OK)
            rig_die("a token");
    }
    OK(right == 20, "a reply with a penalty follows its definition (%u of 20 tokens)", right);
}

static void test_ends(void)
{
    struct generate_params params = { .limit = 20 };
    struct generate_params to_the_end = { .limit = 100000 };
    uint32_t end, at_end = 0;
    char first[8];
    size_t n;

    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_LIMIT && said.n_ids == 20 &&
           result.new_tokens == 20 && said.n_begins == 1 && said.n_wrong == 0,
       "a reply has 20 tokens, each with its text between its begin and end");
    OK(rig.session.n_ids == N_PROMPT + 20 && rig.session.n_cached == N_PROMPT + 19 &&
           memcmp(rig.session.ids + result.first_new, said.ids, 20 * sizeof *said.ids) == 0,
       "the tokens of the reply are the session's, and the last one is pending");
    OK(result.prompt_tokens == N_PROMPT && result.passes == 19 && result.start <= result.first &&
           result.first <= result.last,
       "the reply's tokens are counted");
    end = said.ids[3];
    while (said.ids[at_end] != end)
        at_end++;
    n = said.bytes < 5 ? said.bytes : 5;
    memcpy(first, said.text + said.bytes - n, n);
    first[n] = '\0';
    params.stops = (struct reply_stops){ { first }, 1 };
    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_STOP &&
           strstr(said.text, first) == NULL,
       "a stop string ends the reply before the limit, and is not shown: \"%s\"", first);
    generate_keep_shown(&rig.session, &result);
    OK(rig.session.n_ids < N_PROMPT + 20, "only shown text is kept");
    params.stops.n = 0;
    params.n_end_ids = 1;
    params.end_ids = &end;
    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_ENDED && said.n_ids == at_end,
       "a token that ends the reply is not handed on");
    OK(reply(PLAIN, 0, &to_the_end) == ERR_OK && result.end == GENERATE_CONTEXT &&
           said.n_rooms == 1 && rig.session.n_ids == rig.session.context,
       "a full context asks for room once, and ends the reply");
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stop(void)
{
    static const struct stop stop = { at_once, NULL };
    struct generate_params params = { .limit = 50 };
    unsigned good = 0;

    for (stop_after = 1; stop_after < 20; stop_after += 3)
        good += reply(PLAIN, 0, &params) == ERR_ABORTED && said.n_ids == stop_after &&
                rig.session.n_ids == N_PROMPT + stop_after &&
                rig.session.n_cached + 1 == rig.session.n_ids && said.n_open == 0;
    stop_after = 0;
    OK(good == 7, "a reply may stop after any token, which is then pending: %u of 7", good);
    params.prompt_stop = &stop;
    OK(reply(PLAIN, 0, &params) == ERR_ABORTED && said.n_begins == 0 && result.first == 0 &&
           rig.session.n_cached == 0 && rig.session.n_ids == N_PROMPT,
       "a prompt that is stopped is pending as a whole");
}

/* ---- constraints ---------------------------------------------------------------------------- */

static struct grammar_constraint constraint;
static uint8_t *constraint_room;

static void hold_to(const char *gbnf)
{
    const struct tokenizer *t = &rig.model.tokenizer;
    const char *why = "";
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    void *grammar;
    size_t bytes;

    free(constraint_room);
    constraint_room = aligned_alloc(64, grammar_constraint_bytes(t->head->n_tokens) + 64);
    grammar_constraint_open(&constraint, constraint_room, t, t->head->n_tokens);
    if (grammar_compile_gbnf(gbnf, &grammar, &bytes, error_message) != ERR_OK) {
        rig_die(error_message);
    }
    memcpy(grammar_constraint_memory(&constraint), grammar, bytes);
    free(grammar);
    if (grammar_constraint_use(&constraint, bytes, &why) != ERR_OK) {
        rig_die(why);
    }
}

/* Allows a letter, then two digits, and so on: the text so far decides what may come. */
static unsigned count_wrong(void)
{
    unsigned wrong = 0;

    for (size_t i = 0; i < said.bytes; i++) {
        char c = said.text[i];

        wrong += i % 3 == 0 ? c < 'a' || c > 'z' : c < '0' || c > '9';
    }
    return wrong;
}

static void test_constraint(float temp)
{
    static const char *const names[] = { "plain", "n-grams", "a draft" };
    struct generate_params params = { .limit = 60, .constraint = &constraint.base };
    uint32_t plain[MOST];

    hold_to("root ::= ([a-z] [0-9] [0-9]){99}");
    for (int form = PLAIN; form <= DRAFT; form++) {
        OK(reply((enum form)form, temp, &params) == ERR_OK && said.n_ids == 60 &&
               result.refused > 0 && result.refused <= 60,
           "%s: 60 tokens follow a constraint, %u are refused", names[form], result.refused);
        OK(count_wrong() == 0, "%s: each token is allowed: %.20s", names[form], said.text);
        if (form == PLAIN)
            memcpy(plain, said.ids, sizeof plain);
        else if (temp == 0 || form == NGRAM)
            OK(memcmp(plain, said.ids, 60 * sizeof *plain) == 0,
               "%s: the tokens are the same, with %u of %u guesses right", names[form],
               result.right, result.guessed);
    }
}

static void test_constraint_ends(void)
{
    struct generate_params params = { .limit = 60, .constraint = &constraint.base };

    hold_to("root ::= \"no\" | \"yes\"");
    OK(reply(PLAIN, 1, &params) == ERR_OK && result.end == GENERATE_ENDED &&
           (strcmp(said.text, "no") == 0 || strcmp(said.text, "yes") == 0),
       "a text that is complete ends the reply: %s", said.text);
    hold_to("root ::= \"(\" root \")\"");
    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_NO_WAY_ON &&
           said.bytes == INGOT_GRAMMAR_DEPTH + 1 && strspn(said.text, "(") == said.bytes,
       "no token is allowed when a grammar is as deep as it may be: %s", said.text);
    hold_to("root ::= [ -~]* \"\\x02\"");
    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_LIMIT,
       "the reply may not end before its text does");
}

/* Allows a word between brackets, which the model may go on with for ever. */
static const char *const BRACKETS = "root ::= \"[\" [a-z]* \"]\" \"!!\"";

static bool is_whole(void)
{
    return said.bytes >= 4 && said.text[0] == '[' &&
           strspn(said.text + 1, "abcdefghijklmnopqrstuvwxyz") == said.bytes - 4 &&
           strcmp(said.text + said.bytes - 3, "]!!") == 0;
}

/* A limit leaves the text whole wherever that is possible. */
static void test_constraint_limit(enum form form)
{
    struct generate_params params = { .constraint = &constraint.base };

    hold_to(BRACKETS);
    for (params.limit = 4; params.limit < 40; params.limit += 5) {
        OK(reply(form, 1, &params) == ERR_OK && is_whole() && said.n_ids <= params.limit &&
               result.end == (constraint.base.led ? GENERATE_LIMIT : GENERATE_ENDED),
           "%u tokens give a whole text: %s", (unsigned)params.limit, said.text);
    }
    params.limit = 3;
    OK(reply(form, 1, &params) == ERR_OK && !is_whole() && said.n_ids == 3 &&
           !constraint.base.led && result.end == GENERATE_LIMIT,
       "a text that is too long for its limit is not led: %s", said.text);
}

/* The model would end its reply within its thoughts, before the text that the grammar wants. */
static void test_constraint_thoughts(enum form form)
{
    struct generate_params params = { .limit = 20, .inside_thoughts = true };
    uint32_t end;
    unsigned before = 0, ends = 0;

    OK(reply(form, 0, &params) == ERR_OK && said.n_ids == 20, "20 tokens of thoughts");
    end = said.ids[5];
    params.end_ids = &end;
    params.n_end_ids = 1;
    OK(reply(form, 0, &params) == ERR_OK && result.end == GENERATE_ENDED && said.n_ids <= 5,
       "without a grammar, thoughts may end the reply");
    before = said.n_ids;
    params.constraint = &constraint.base;
    hold_to("root ::= \"yes\"");
    OK(reply(form, 0, &params) == ERR_OK, "thoughts before a constrained text");
    for (unsigned i = 0; i < said.n_ids; i++)
        ends += said.ids[i] == end;
    OK(result.end == GENERATE_LIMIT && said.n_ids == 20 && ends == 0,
       "the reply does not end within its thoughts: %u tokens, %u without a grammar", said.n_ids,
       before);
    hold_to("root ::= \"yes\"?");
    OK(reply(form, 0, &params) == ERR_OK && result.end == GENERATE_ENDED && said.n_ids == before,
       "unless the grammar allows an empty text");
}

/* The model repeats itself within the text, and is led to its end. */
static void test_constraint_repeats(void)
{
    struct generate_params params = { .constraint = &constraint.base };

    hold_to("root ::= \"[\" \"ab\"{100,4000} \"]\" \"!!\"");
    OK(reply(PLAIN, 0, &params) == ERR_OK && constraint.base.led &&
           result.end == GENERATE_REPETITION && said.bytes == 204 &&
           strcmp(said.text + 200, "b]!!") == 0,
       "%u bytes are as few as a whole text has: ...%s", (unsigned)said.bytes,
       said.text + said.bytes - 4);
    hold_to("root ::= \"[\" \"ab\"{100,4000} \"]\" [a-z]*");
    OK(reply(PLAIN, 0, &params) == ERR_OK && result.end == GENERATE_REPETITION && said.bytes == 202,
       "%u bytes are enough although the text could continue", (unsigned)said.bytes);
}

int main(void)
{
    rig_compute(false);
    make_models();
    test_ends();
    test_penalty();
    test_stop();
    test_constraint(0);
    test_constraint(1);
    test_constraint_ends();
    test_constraint_limit(PLAIN);
    test_constraint_limit(NGRAM);
    test_constraint_thoughts(PLAIN);
    test_constraint_thoughts(NGRAM);
    test_constraint_repeats();
    free(constraint_room);
    return tap_done();
}
