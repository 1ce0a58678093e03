/* Speculative decoding changes nothing but the number of passes: logits and cache are equal bit for
 * bit, and so is the text of whole conversations. */
#include "runtime/session/speculative.h"

#include "runtime/chat/chat.h"
#include "runtime/session/ngram.h"
#include "runtime/base/crc32c.h"
#include "tests/unit/console/console_rig.h"
#include "tests/unit/session/draft.h"

enum { CONTEXT = 256, VOCAB = 512 };

/* ---- n-grams --------------------------------------------------------------------------------- */

/* The last `length` tokens occur earlier, and `expected` follows there. */
static bool guesses_are(const char *ids, uint32_t length, const char *expected)
{
    uint32_t text[64], n = (uint32_t)strlen(ids), most = (uint32_t)strlen(expected);

    for (uint32_t i = 0; i < n; i++)
        text[i] = (uint32_t)ids[i];
    if (ngram_guess(text, n, most) != length)
        return false;
    for (uint32_t i = 0; i < most; i++) {
        if (text[n + i] != (uint32_t)expected[i])
            return false;
    }
    return true;
}

static void test_ngram(void)
{
    OK(guesses_are("", 0, "") && guesses_are("a", 0, "") && guesses_are("abc", 0, ""),
       "nothing is guessed if nothing repeats");
    OK(guesses_are("abcdab", 2, "cdab"), "two tokens that stand earlier give the guess");
    OK(guesses_are("abcdxb", 1, "cd"), "one token that stands earlier gives the guess");
    OK(guesses_are("abcxbcyabc", 3, "xbc"), "the longer match goes before the later one");
    OK(guesses_are("abxabyab", 2, "yab"), "the later of two equally long matches gives the guess");
    OK(guesses_are("abcdefxabcdefyabcdef", 4, "yabc"), "four tokens tell as much as six");
    OK(guesses_are("abcab", 2, "cabcabca"), "a period goes on beyond the text");
    OK(guesses_are("aaaa", 3, "aaaaaaaa"), "a run of one token is guessed");
}

/* ---- logits, cache and hash ------------------------------------------------------------------ */

static uint32_t ids[CONTEXT + 16];
static float expected[CONTEXT][VOCAB]; /* after ids[i] */

static void set_expected(void)
{
    rig.guesses = MODEL_NO_GUESSES;
    if (rig_start(0, 1, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(ids, CONTEXT);
    for (uint32_t i = 0; i < CONTEXT; i++) {
        if (session_append(&rig.session, ids + i, 1, NULL) != ERR_OK)
            rig_die(rig.model.error_message);
        memcpy(expected[i], rig.session.logits, sizeof expected[i]);
    }
}

static bool is_after(uint32_t n)
{
    return rig.session.n_cached == n && rig.session.logits != NULL &&
           memcmp(rig.session.logits, expected[n - 1], sizeof expected[0]) == 0;
}

/* Makes runs of every length, in which the first `right` guesses are right, to the context's
 * end. */
static bool runs_agree(size_t limit, bool in_place, uint32_t chunk, uint32_t *passes)
{
    struct session *s = &rig.session;
    bool good = rig_start(limit, chunk, in_place) == ERR_OK;
    uint32_t most = model_most_guesses(s->model);

    *passes = 0;
    for (uint32_t at = 0, run = 0; good && at < CONTEXT; run++, ++*passes) {
        uint32_t n = run % (most + 1), right = run * 5 % (most + 2);

        n = n < CONTEXT - at - 1 ? n : CONTEXT - at - 1;
        (void)session_cut(s, at); /* the token that ended the run before */
        good = session_put(s, ids + at, 1) == ERR_OK;
        memcpy(s->ids + at + 1, ids + at + 1, n * sizeof *ids);
        for (uint32_t i = right; i < n; i++)
            s->ids[at + 1 + i] = (ids[at + 1 + i] + 1 + i) % VOCAB;
        good = good && session_run_guesses(s, n, NULL) == ERR_OK && is_after(++at);
        while (good && at < CONTEXT && session_put_next(s, ids[at])) {
            session_take_guess(s);
            good = is_after(++at);
        }
        good = good && (at == CONTEXT || s->n_ahead == 0);
    }
    return good && memcmp(s->ids, ids, CONTEXT * sizeof *ids) == 0;
}

static void test_runs(struct rig_limits l)
{
    static const char *const kv[] = { "f16", "", "f32" };
    const struct {
        const char *name;
        size_t limit;
        bool in_place;
        uint32_t chunk;
    } forms[] = {
        { "resident", 0, false, 0 },          { "in place", 0, true, 0 },
        { "two slots", l.least, false, 0 },   { "head pinned", l.untiled, false, 0 },
        { "chunks of 3", l.least, false, 3 },
    };

    for (int type = KV_F16; type <= KV_F32; type += 2) {
        uint64_t hash;

        rig.kv = kv_both((enum kv_type)type);
        set_expected();
        hash = rig.session.hash.value;
        rig.guesses = MODEL_GUESSES;
        for (size_t f = 0; f < 5; f++) {
            uint32_t passes;
            bool good = runs_agree(forms[f].limit, forms[f].in_place, forms[f].chunk, &passes);

            OK(good && rig.session.hash.value == hash && passes < CONTEXT,
               "kv=%s, %s: %u positions in %u passes have the same logits and hash", kv[type],
               forms[f].name, CONTEXT, passes);
        }
    }
    rig.kv = kv_both(KV_F16);
}

static void test_room(struct rig_limits l)
{
    struct session *s = &rig.session;
    size_t plain;

    rig.guesses = MODEL_NO_GUESSES;
    rig_open(0, 0, false);
    plain = s->model->plan.memory.scratch;
    OK(model_most_guesses(s->model) == 0, "no guesses are planned unless they are asked for");
    rig.guesses = MODEL_GUESSES_IF_STREAMED;
    rig_open(0, 0, false);
    OK(model_most_guesses(s->model) == 0 && s->model->plan.memory.scratch == plain,
       "no room for guesses is reserved in resident plans");
    rig_open(l.least, 0, false);
    OK(model_most_guesses(s->model) == 8 &&
           s->model->plan.memory.scratch == plain + 8 * VOCAB * sizeof(float),
       "eight more rows are planned if weights stream");
    rig.guesses = MODEL_GUESSES;
    rig_open(0, 0, false);
    OK(model_most_guesses(s->model) == 8, "guesses that are asked for get room for eight");
    rig_open(0, 3, false);
    OK(model_most_guesses(s->model) == 2, "a chunk of three tokens has two guesses");
}

/* ---- conversations --------------------------------------------------------------------------- */

enum mode { PLAIN, NGRAM, DRAFT };
static const char *const modes[] = { "plain", "n-grams", "a draft" };

static struct options options;
static struct chat chat;
static char text[1 << 16];
static size_t text_bytes;
static int stop_after; /* characters until Ctrl-C; -1: never */

static void keep_char(void *context, char c)
{
    (void)context;
    if (text_bytes + 1 < sizeof text)
        text[text_bytes++] = c;
    text[text_bytes] = '\0';
    stop_after -= stop_after > 0;
}

static int ctrl_c(void *context)
{
    (void)context;
    if (stop_after != 0)
        return CONSOLE_NO_BYTE;
    stop_after = -1;
    return 3;
}

static void open_chat(enum mode mode, const struct sampler_params *sampler, uint32_t n)
{
    struct console_rig terminal = {
        .putc = keep_char, .getc = ctrl_c, .ticks = rig_file_ticks, .hz = 1000
    };

    console_rig_open(&terminal);
    rig.guesses = mode == PLAIN ? MODEL_NO_GUESSES : MODEL_GUESSES;
    if (mode == DRAFT)
        start_with_draft(0);
    else if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    options_init(&options);
    options.sampler = *sampler;
    options.reply.n = n;
    options.show.ids = true;
    options.load.spec = mode == NGRAM   ? SPECULATIVE_NGRAM
                        : mode == PLAIN ? SPECULATIVE_OFF
                                        : SPECULATIVE_AUTO;
    options.load.draft[0] = mode == DRAFT ? 'd' : '\0';
    stop_after = -1;
    chat_open(&chat, &console, &rig.session, mode == DRAFT ? &draft_session : NULL, &options, NULL);
}

/* The results of three turns: printed text without the line of figures, and the cache. */
struct record {
    char text[1 << 15];
    size_t bytes;
    uint32_t length, pending, right;
    uint32_t ids[CONTEXT];
};

static void record_turn(struct record *r, const char *line, int stop)
{
    const char *at;

    text_bytes = 0;
    text[0] = '\0';
    stop_after = stop;
    r->bytes += (size_t)snprintf(r->text + r->bytes, sizeof r->text - r->bytes, "<%d>",
                                 (int)chat_reply(&chat, line, strlen(line), true));
    at = strstr(text, "[1");
    if (at == NULL)
        at = strstr(text, " new token");
    r->bytes += (size_t)snprintf(r->text + r->bytes, sizeof r->text - r->bytes, "%.*s%s",
                                 at != NULL ? (int)(at - text) : (int)text_bytes, text,
                                 strstr(text, "ids:") != NULL ? strstr(text, "ids:") : "");
    r->length = rig.session.n_cached;
    r->pending = (rig.session.n_ids - rig.session.n_cached);
    r->right += chat.speculative.stats.right;
    memcpy(r->ids, rig.session.ids, (r->length + r->pending) * sizeof *r->ids);
}

static void record(struct record *r, enum mode mode, const struct sampler_params *sampler,
                   uint32_t n, int stop)
{
    memset(r, 0, sizeof *r);
    open_chat(mode, sampler, n);
    record_turn(r, "bade", stop);
    record_turn(r, "gogo", stop);
    record_turn(r, "bade gogo", -1);
}

static bool same_record(const struct record *a, const struct record *b)
{
    return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0 &&
           a->length == b->length && a->pending == b->pending &&
           memcmp(a->ids, b->ids, sizeof a->ids) == 0;
}

/* Many values of n= (0: to the context's end) and places of Ctrl-C, in three turns each. */
static void test_conversations(const struct sampler_params *sampler, enum mode mode,
                               const char *what)
{
    static struct record plain, other;
    unsigned good_n = 0, good_stop = 0, right = 0;

    for (uint32_t n = 0; n < 20; n += n < 4 ? 1 : 5) {
        record(&plain, PLAIN, sampler, n, -1);
        record(&other, mode, sampler, n, -1);
        good_n += same_record(&plain, &other);
        right += other.right;
    }
    for (int stop = 1; stop < 60; stop += 10) {
        record(&plain, PLAIN, sampler, 40, stop);
        record(&other, mode, sampler, 40, stop);
        good_stop += same_record(&plain, &other);
    }
    OK(good_n == 8 && right > 0,
       "%s, %s: %u of 8 values of n= give the same reply, with %u guesses right", what, modes[mode],
       good_n, right);
    OK(good_stop == 6, "%s, %s: %u of 6 stops by Ctrl-C give the same reply", what, modes[mode],
       good_stop);
}

static void put_stops(uint32_t id, uint32_t n)
{
    struct ingot_header *h = (void *)rig.packed;
    struct ingot_chat *c = (void *)(rig.packed + h->chat.offset);

    c->n_stops = n;
    c->stops[0] = id;
    h->chat.crc32c = crc32c(0, c, (size_t)h->chat.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

/* Tries each token of a reply as the one that ends it. */
static void test_stop_tokens(const struct sampler_params *sampler)
{
    static struct record plain, other;
    const struct ingot_chat *c = rig.model.image.chat;
    uint32_t reply[24], start, own = c->stops[0], n_own = c->n_stops;
    unsigned good = 0;

    open_chat(PLAIN, sampler, 24);
    chat_reply(&chat, "bade", 4, true);
    start = chat.reply_start;
    memcpy(reply, rig.session.ids + start, sizeof reply);
    for (int i = 0; i < 24; i += 2) {
        put_stops(reply[i], 1);
        record(&plain, PLAIN, sampler, 24, -1);
        record(&other, DRAFT, sampler, 24, -1);
        good += same_record(&plain, &other) && plain.bytes > 0;
    }
    put_stops(own, n_own);
    OK(good == 12, "%u of 12 stop tokens give the same three turns", good);
}

/* ---- drafts that will not do ----------------------------------------------------------------- */

static void test_refusals(void)
{
    static uint8_t *copy;
    struct model_setup small;
    unsigned whole = 0;

    start_with_draft(0);
    copy = malloc((size_t)draft.image.header->tokenizer.bytes);
    memcpy(copy, draft.image.tokenizer, (size_t)draft.image.header->tokenizer.bytes);
    tokenizer_open(&draft.tokenizer, copy);
    OK(speculative_check(&draft, &rig.model) == ERR_OK, "the same vocabulary is accepted");
    copy[(const uint8_t *)tokenizer_text(&draft.tokenizer, 400) - copy] ^= 1;
    OK(speculative_check(&draft, &rig.model) == ERR_UNSUPPORTED,
       "another vocabulary is refused: %s", draft.error_message);
    free(copy);
    small = rig.setup;
    small.draft = true;
    for (small.ram.bytes = 1 << 16; model_open(&draft, &small) != ERR_OK;
         small.ram.bytes += 1 << 14)
        whole += strstr(draft.error_message, "a draft must fit into memory as a whole") != NULL;
    OK(whole > 0 && draft.plan.residency == PLAN_RESIDENT && small.ram.bytes < RIG_RAM,
       "%u sizes of RAM are too small for the whole draft, %u KiB are not", whole,
       (unsigned)(small.ram.bytes >> 10));
    small.ram.bytes = RIG_RAM;
    small.limits.context = 100000;
    OK(model_open(&draft, &small) == ERR_OK && draft.plan.context == CONTEXT &&
           draft.plan.residency == PLAN_RESIDENT,
       "a longer context is cut to the draft's");
    small.draft = false;
    speculative_leave(&small, &draft);
    OK((uint8_t *)small.ram.base + small.ram.bytes == rig.ram + RIG_RAM &&
           (uint8_t *)small.ram.base >=
               draft.arena.regions[ARENA_SCRATCH].base + draft.arena.regions[ARENA_SCRATCH].bytes,
       "the model gets what the draft leaves, %u KiB less", (unsigned)(model_bytes(&draft) >> 10));
}

/* ---- what a guess costs ----------------------------------------------------------------------- */

static struct speculative timed;

static void learn(uint32_t n, float passes)
{
    for (int i = 0; i < 40; i++) {
        speculative_learn_cost(&timed, n, (uint64_t)(100000 * passes));
    }
}

/* Passes of 2, 3 ... tokens equal those of a core that takes them by two and by four. */
static void test_costs(void)
{
    static const float passes[] = { 1, 1.55f, 2.7f, 2.9f, 4, 4.6f, 5.2f, 5.1f };
    const struct speculative_params automatic = { SPECULATIVE_AUTO, false };

    speculative_open(&timed, &rig.session, NULL, &automatic);
    OK(speculative_length(&timed, 0.9f) == 0,
       "nothing is guessed before a pass over one token was timed");
    learn(0, 1);
    OK(speculative_length(&timed, 0.9f) == SPECULATIVE_MOST, "a guess counts as cheap at first");
    learn(3, 2.9f);
    OK(speculative_length(&timed, 0.6f) == 0,
       "other guesses count in proportion to the one that was timed");
    for (uint32_t n = 1; n < sizeof passes / sizeof passes[0]; n++) {
        learn(n, passes[n]);
    }
    OK(speculative_length(&timed, 0.5f) == 0, "no guess pays if half of them are right");
    OK(speculative_length(&timed, 0.7f) == 1,
       "one guess pays if two tokens cost less than two passes");
    OK(speculative_length(&timed, 0.97f) == 7, "two groups of four tokens give seven guesses");
    for (uint32_t n = 1; n <= SPECULATIVE_MOST; n++) {
        learn(n, 9);
    }
    OK(speculative_length(&timed, 0.97f) == 0, "no guess pays if each costs passes");
    for (int i = 0; i < 40; i++) {
        learn(0, 1);
    }
    OK(speculative_length(&timed, 0.97f) != 0,
       "guessing that did not pay is tried again after a while");
    timed.timed = false;
    OK(speculative_length(&timed, 0.9f) == 8 && speculative_length(&timed, 0.01f) == 0,
       "guesses that were asked for depend only on what they save");
}

int main(void)
{
    static const struct sampler_params greedy = { .temp = 0, .top_p = 1, .repeat = 1 };
    static const struct sampler_bias biases[] = { { 40, 2.0f }, { 41, SAMPLER_BAN } };
    static const struct sampler_params greedy_penalty = { .temp = 0,
                                                          .top_p = 1,
                                                          .repeat = 1.3f,
                                                          .repeat_last = 64,
                                                          .presence = 0.5f,
                                                          .frequency = 0.3f,
                                                          .biases = biases,
                                                          .n_biases = 2 };
    static const struct sampler_params warm = { .temp = 0.3f,
                                                .top_p = 0.95f,
                                                .repeat = 1.05f,
                                                .top_k = 4,
                                                .seed = 11,
                                                .repeat_last = 64,
                                                .frequency = 0.2f,
                                                .min_p = 0.05f };
    struct rig_limits limits;

    rig_compute(false);
    make_models();
    limits = rig_limits();
    test_ngram();
    test_runs(limits);
    test_room(limits);
    test_conversations(&greedy, NGRAM, "greedy");
    test_conversations(&greedy, DRAFT, "greedy");
    test_conversations(&greedy_penalty, DRAFT, "greedy with a penalty");
    test_conversations(&warm, NGRAM, "sampled");
    test_stop_tokens(&greedy);
    test_refusals();
    test_costs();
    return tap_done();
}
