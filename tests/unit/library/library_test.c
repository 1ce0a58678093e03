/* The library as a program uses it: the same bits however the model's bytes and memory are given,
 * replies that end where they should, tokens one by one, two models at a time, threads that come
 * and go. */
#include <pthread.h>
#include <stdatomic.h>

#include "flash_image/format/format.h"
#include "tests/unit/library/library_rig.h"

#define DEMO "models/demo-q8_0.ingot"
#define DEMO_Q4 "models/demo-q4_0.ingot"

/* ---- where the bytes are -------------------------------------------------------------------- */

static void test_ways(void)
{
    static const struct {
        const char *name;
        bool in_memory;
        uint64_t weight_bytes;
        uint32_t cpu;
        enum ingot_residency residency;
    } ways[] = {
        { "read once", false, 0, INGOT_CPU_AUTO, INGOT_RESIDENT },
        { "used in place", true, 0, INGOT_CPU_DETECT, INGOT_IN_PLACE },
        { "streamed, in C alone", false, 600 << 10, INGOT_CPU_PORTABLE, INGOT_STREAMED },
    };

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        struct ingot_model_info info;
        struct rig r;

        rig_init(&r, DEMO);
        rig_memory(&r, RIG_MEMORY);
        if (ways[i].in_memory)
            r.setup.source.data = r.file;
        r.setup.weight_bytes = ways[i].weight_bytes;
        r.setup.cpu = ways[i].cpu;
        OK(rig_start(&r) == INGOT_OK && rig_answers(&r), "%s: the model answers: %s", ways[i].name,
           r.said);
        OK(ingot_model_describe(r.model, &info) == INGOT_OK &&
               info.residency == ways[i].residency && info.n_cores == 1 && info.has_template &&
               info.context == 512 &&
               (info.bytes_a_token != 0) == (info.residency == INGOT_STREAMED) &&
               info.memory_bytes <= RIG_MEMORY,
           "%s: the model is a %s, with %zu bytes of memory and kernels %s", ways[i].name,
           info.family, info.memory_bytes, info.kernels);
        OK((r.n_reads == 0) == ways[i].in_memory && r.n_bad_reads == 0 && rig_guarded(&r),
           "%s: %u reads are as promised, and nothing is written outside the memory", ways[i].name,
           r.n_reads);
        rig_end(&r);
    }
}

/* With exactly the needed memory it opens, and with a little less it does not. */
static void test_memory(void)
{
    struct ingot_memory needed;
    struct ingot_model_info info = { 0 };
    struct rig r;
    size_t slack = 16384;

    rig_init(&r, DEMO);
    rig_memory(&r, 1 << 20);
    OK(ingot_memory_needed(&r.setup, &needed) == INGOT_OK && needed.least < needed.all,
       "with a megabyte the library tells that %zu bytes are needed, and %zu hold everything",
       needed.least, needed.all);
    rig_memory(&r, needed.least);
    OK(rig_start(&r) == INGOT_OK && rig_answers(&r) && rig_guarded(&r),
       "the model answers with the least memory");
    (void)ingot_model_describe(r.model, &info);
    OK(info.residency == INGOT_STREAMED, "weights stream with the least memory");
    (void)ingot_close(r.model);
    rig_memory(&r, needed.least - slack);
    OK(ingot_open(&r.setup, &r.model) == INGOT_NO_MEMORY,
       "a model does not open with %zu bytes less: %s", slack, ingot_error_message(r.model));
    (void)ingot_close(r.model);
    rig_memory(&r, needed.all);
    OK(rig_start(&r) == INGOT_OK && ingot_model_describe(r.model, &info) == INGOT_OK &&
           info.residency == INGOT_RESIDENT,
       "no weight is read twice with memory for all");
    rig_end(&r);
}

/* ---- replies -------------------------------------------------------------------------------- */

static void test_ends(struct rig *r)
{
    struct ingot_generate_params p = rig_greedy();
    struct ingot_generate_result result;
    size_t before;

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    before = rig_length(r);
    p.limit = 3;
    OK(rig_generate(r, &p, &result) == INGOT_OK && result.end == INGOT_END_LIMIT &&
           result.new_tokens == 3 && result.prompt_tokens == before && rig_length(r) == before + 3,
       "a limit of three tokens ends the reply: \"%s\"", r->said);
    p.limit = 0;
    OK(rig_generate(r, &p, &result) == INGOT_OK && result.end == INGOT_END_MODEL &&
           strstr(RIG_ANSWER, r->said) != NULL && result.reply_ticks != 0,
       "the next call gives the rest of the reply: \"%s\"", r->said);

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    p.stops[0] = " very";
    p.n_stops = 1;
    OK(rig_generate(r, &p, &result) == INGOT_OK && result.end == INGOT_END_STOP &&
           strcmp(r->said, "I am Ingot, a") == 0,
       "a stop string ends the reply before it: \"%s\"", r->said);
    p.n_stops = 0;
    OK(rig_generate(r, &p, &result) == INGOT_OK && r->said_bytes != 0,
       "the next call goes on where the text was shown to end: \"%s\"", r->said);
}

static unsigned layers_left;

static bool go_on(void *context)
{
    (void)context;
    return layers_left-- != 0;
}

static void test_stops(struct rig *r)
{
    struct ingot_generate_params p = rig_greedy();
    struct ingot_generate_result result;

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    r->pieces_most = 2;
    OK(rig_generate(r, &p, &result) == INGOT_OK && result.end == INGOT_END_CALLER &&
           r->n_stripes == 2,
       "the callback stops the reply: \"%s\"", r->said);
    r->pieces_most = 0;

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    p.go_on = go_on;
    layers_left = 2;
    OK(rig_generate(r, &p, &result) == INGOT_OK && result.end == INGOT_END_CALLER &&
           r->n_stripes == 0 && result.new_tokens == 0,
       "a stop within the prompt gives no token");
    p.go_on = NULL;
    OK(rig_generate(r, &p, &result) == INGOT_OK && strcmp(r->said, RIG_ANSWER) == 0,
       "the next call answers after a stop: \"%s\"", r->said);
}

/* ---- what the file recommends ---------------------------------------------------------------- */

static uint32_t crc32c_of(const uint8_t *bytes, size_t n)
{
    uint32_t crc = ~0u;

    for (size_t i = 0; i < n; i++) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (0x82f63b78u & (0u - (crc & 1)));
    }
    return ~crc;
}

/* A rig whose file recommends s. False: it does not start. */
static bool start_with(struct rig *r, const struct ingot_sampling *s)
{
    struct ingot_header *h;

    rig_init(r, DEMO);
    rig_memory(r, RIG_MEMORY);
    h = (struct ingot_header *)r->file;
    h->sampling = *s;
    h->header_crc32c = 0;
    h->header_crc32c = crc32c_of(r->file, sizeof *h);
    return rig_start(r) == INGOT_OK;
}

/* Returns the reply of ingot_generate_together, with parameters NULL. */
static bool together_says(struct rig *r, const char *text)
{
    struct ingot_reply reply = { .session = r->session, .text = rig_say, .context = r };

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    r->said_bytes = 0;
    r->said[0] = '\0';
    return ingot_generate_together(&reply, 1) == INGOT_OK && strcmp(r->said, text) == 0;
}

static void test_defaults(void)
{
    static const struct ingot_sampling greedy = { .given = INGOT_SAMPLES_TEMP, .temp = 0 },
                                       hot = { .given = INGOT_ALL_SAMPLING & ~INGOT_SAMPLES_REPEAT,
                                               .temp = 8,
                                               .top_p = 0.5f,
                                               .min_p = 0,
                                               .top_k = 300,
                                               .repeat_last = 0 };
    struct ingot_generate_params p;
    struct rig r;

    OK(start_with(&r, &greedy) && ingot_model_defaults(r.model, &p) == INGOT_OK && p.temp == 0 &&
           p.top_k == 40 && p.top_p > 0.94f && p.top_p < 0.96f && p.repeat_last == 0,
       "a file's temperature is used, and the other defaults stay");
    (void)rig_turn(&r, RIG_QUESTION);
    OK(rig_generate(&r, NULL, NULL) == INGOT_OK && strcmp(r.said, RIG_ANSWER) == 0,
       "a reply without parameters has the file's temperature: \"%s\"", r.said);
    OK(together_says(&r, RIG_ANSWER), "parallel replies have the file's temperature, too: \"%s\"",
       r.said);
    rig_end(&r);
    OK(start_with(&r, &hot) && ingot_model_defaults(r.model, &p) == INGOT_OK && p.temp == 8 &&
           p.top_p == 0.5f && p.min_p == 0 && p.top_k == 300 && p.repeat == 1 && p.n_stops == 0,
       "all that a file may recommend is read");
    (void)rig_turn(&r, RIG_QUESTION);
    p.limit = 20;
    OK(rig_generate(&r, &p, NULL) == INGOT_OK && strncmp(r.said, RIG_ANSWER, 20) != 0,
       "a reply has the file's recommended values: \"%s\"", r.said);
    OK(ingot_model_defaults(NULL, &p) == INGOT_BAD_ARGUMENT &&
           ingot_model_defaults(r.model, NULL) == INGOT_BAD_ARGUMENT,
       "NULL is refused");
    (void)ingot_close(r.model);
    OK(ingot_model_defaults(r.model, &p) == INGOT_WRONG_ORDER, "a closed model has no defaults");
    r.model = NULL;
    rig_end(&r);
}

/* ---- conversations and tokens --------------------------------------------------------------- */

static void test_conversation(struct rig *r)
{
    static const char system[] = "Be short.";
    struct ingot_turn turn = { .text = "What is 7 plus 8?", .text_bytes = 17 };
    struct ingot_generate_params p = rig_greedy();
    size_t before;

    (void)ingot_session_clear(r->session);
    (void)rig_answers(r);
    before = rig_length(r);
    OK(ingot_prompt_turn(r->session, &turn) == INGOT_OK && rig_generate(r, &p, NULL) == INGOT_OK &&
           strstr(r->said, "15") != NULL && rig_length(r) > before,
       "a second turn is answered: \"%s\"", r->said);
    (void)ingot_session_clear(r->session);
    turn.system = system;
    turn.system_bytes = sizeof system - 1;
    OK(ingot_prompt_turn(r->session, &turn) == INGOT_OK && rig_generate(r, &p, NULL) == INGOT_OK,
       "a turn with a system prompt is answered: \"%s\"", r->said);
    (void)ingot_session_clear(r->session);
    OK(ingot_prompt(r->session, "Once there was", 14) == INGOT_OK &&
           rig_generate(r, &p, NULL) == INGOT_OK && r->said_bytes != 0,
       "a text without a template is continued: \"%.40s\"", r->said);
}

static uint32_t likeliest(const float *logits, uint32_t n)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < n; i++) {
        if (logits[i] > logits[best])
            best = i;
    }
    return best;
}

/* One token after the other by their logits gives what ingot_generate gives. */
static void test_tokens(struct rig *r)
{
    const uint32_t *ids;
    uint32_t again[64], some[8];
    struct ingot_model_info info;
    const float *logits = NULL;
    char text[256] = "";
    size_t n, n_reply, bytes, at = 0;

    (void)ingot_session_clear(r->session);
    (void)rig_turn(r, RIG_QUESTION);
    n = rig_length(r);
    (void)ingot_session_clear(r->session);
    (void)rig_answers(r);
    (void)ingot_tokens(r->session, &ids, &n_reply);
    memcpy(again, ids + n, (n_reply - n) * sizeof *ids);
    (void)ingot_model_describe(r->model, &info);
    OK(ingot_cut(r->session, n) == INGOT_OK && rig_length(r) == n,
       "the session is cut back to the question");
    for (size_t i = 0; i < n_reply - n; i++) {
        uint32_t id;
        const char *piece;

        (void)ingot_logits(r->session, &logits);
        id = likeliest(logits, info.vocab);
        piece = ingot_token_text(r->model, id, info.vocab, &bytes);
        if (at + bytes < sizeof text)
            memcpy(text + at, piece, bytes);
        at += bytes;
        if (id != again[i] || ingot_append(r->session, &id, 1) != INGOT_OK)
            break;
    }
    OK(rig_length(r) == n_reply && strcmp(text, RIG_ANSWER) == 0,
       "the reply is the same token by token: \"%s\"", text);
    OK(ingot_logits(r->session, &logits) == INGOT_OK && rig_generate(r, NULL, NULL) == INGOT_OK,
       "the session goes on after its logits were read");
    OK(ingot_tokenize(r->session, "7+8", 3, false, some, 8, &n) == INGOT_OK && n != 0 &&
           ingot_token_text(r->model, some[0], info.vocab, &bytes)[0] == '7',
       "a text has %zu tokens", n);
}

/* ---- two models ----------------------------------------------------------------------------- */

/* One token of each in turn. */
static void test_two(void)
{
    static const char *const paths[] = { DEMO, DEMO_Q4 };
    uint64_t alone[2] = { 0, 1 }, together[2] = { 2, 3 };
    struct ingot_generate_params p = rig_greedy();
    uint32_t positions;
    struct rig r[2];

    p.limit = 1;
    for (int i = 0; i < 2; i++) {
        rig_init(&r[i], paths[i]);
        rig_memory(&r[i], RIG_MEMORY);
        OK(rig_start(&r[i]) == INGOT_OK, "%s is loaded", paths[i]);
        (void)rig_turn(&r[i], RIG_QUESTION);
        for (int token = 0; token < 12; token++)
            (void)rig_generate(&r[i], &p, NULL);
        (void)ingot_logits_hash(r[i].session, &alone[i], &positions);
        (void)ingot_session_clear(r[i].session);
        (void)rig_turn(&r[i], RIG_QUESTION);
    }
    for (int token = 0; token < 24; token++)
        (void)rig_generate(&r[token % 2], &p, NULL);
    for (int i = 0; i < 2; i++) {
        (void)ingot_logits_hash(r[i].session, &together[i], &positions);
        OK(alone[i] == together[i] && rig_guarded(&r[i]),
           "%s: the logits are %016llx, alone and in turn", paths[i],
           (unsigned long long)together[i]);
    }
    OK(alone[0] != alone[1], "the two models have different logits");
    rig_end(&r[0]);
    rig_end(&r[1]);
}

/* ---- threads -------------------------------------------------------------------------------- */

static struct crew {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t threads[INGOT_MOST_CORES];
    struct {
        void (*entry)(void *arg);
        void *arg;
    } jobs[INGOT_MOST_CORES];
    _Atomic unsigned n_running, n_started;
    unsigned most; /* that start */
} crew = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static void *crew_main(void *job)
{
    unsigned core = (unsigned)(uintptr_t)job;

    crew.jobs[core].entry(crew.jobs[core].arg);
    atomic_fetch_sub(&crew.n_running, 1);
    return NULL;
}

static bool team_start(void *context, uint32_t core, void (*entry)(void *arg), void *arg)
{
    (void)context;
    if (core > crew.most)
        return false;
    crew.jobs[core].entry = entry;
    crew.jobs[core].arg = arg;
    crew.n_started++;
    atomic_fetch_add(&crew.n_running, 1);
    return pthread_create(&crew.threads[core], NULL, crew_main, (void *)(uintptr_t)core) == 0;
}

static void team_wait(void *context, const uint32_t *word, uint32_t old)
{
    (void)context;
    pthread_mutex_lock(&crew.lock);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == old)
        pthread_cond_wait(&crew.changed, &crew.lock);
    pthread_mutex_unlock(&crew.lock);
}

static void team_wake(void *context, const uint32_t *word)
{
    (void)context;
    (void)word;
    pthread_mutex_lock(&crew.lock);
    pthread_cond_broadcast(&crew.changed);
    pthread_mutex_unlock(&crew.lock);
}

static void test_threads(unsigned asked, unsigned start)
{
    struct ingot_model_info info = { 0 };
    struct rig r;

    crew.most = start;
    crew.n_started = 0;
    rig_init(&r, DEMO);
    rig_memory(&r, RIG_MEMORY);
    r.setup.cores = (struct ingot_cores){ NULL, asked, 20, team_start, team_wait, team_wake };
    OK(rig_start(&r) == INGOT_OK && rig_answers(&r),
       "a model answers with %u cores, of which %u start: %s", asked, start, r.said);
    (void)ingot_model_describe(r.model, &info);
    OK(info.n_cores == start + 1, "%u cores are at work", info.n_cores);
    OK(ingot_close(r.model) == INGOT_OK, "the model closes");
    for (unsigned core = 1; core <= crew.n_started; core++)
        pthread_join(crew.threads[core], NULL);
    OK(crew.n_running == 0, "the threads of a closed model have ended");
    memset(r.setup.memory, 0xff, r.memory_bytes);
    OK(rig_start(&r) == INGOT_OK && rig_answers(&r), "the same memory holds the model again");
    (void)ingot_close(r.model);
    for (unsigned core = 1; core <= start; core++)
        pthread_join(crew.threads[core], NULL);
    r.model = NULL;
    rig_end(&r);
}

int main(void)
{
    struct rig r;

    rig_init(&r, DEMO);
    rig_memory(&r, RIG_MEMORY);
    OK(rig_start(&r) == INGOT_OK, "a model is loaded");
    test_ends(&r);
    test_stops(&r);
    test_conversation(&r);
    test_tokens(&r);
    rig_end(&r);
    test_defaults();
    test_ways();
    test_memory();
    test_two();
    test_threads(3, 2);
    test_threads(4, 1);
    return tap_done();
}
