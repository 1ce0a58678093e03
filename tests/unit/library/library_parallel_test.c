/* ingot_generate_parallel: replies side by side have the text, the logits and the ends of each
 * session alone; a callback ends its own reply and no other; wrong calls change nothing. */
#include "tests/unit/library/library_rig.h"

#define DEMO "models/demo-q8_0.ingot"

enum { N = 4 };

static const char *const questions[N] = { RIG_QUESTION, "What is 3 plus 4?",
                                          "Tell me a story about a cat.", "Hello" };

/* The text of one session. */
struct voice {
    char text[2048];
    size_t bytes;
    unsigned pieces, most;   /* false after so many; 0: never */
    unsigned asked, asks;    /* go_on says false after so many; 0: never */
    enum ingot_error inside; /* of a call from within */
    struct ingot_session *session;
    uint64_t hash;
    struct ingot_generate_result result;
};

static struct voice alone[N], parallel[N];
static struct ingot_generate_params params[N];

static bool speak(void *context, const char *text, size_t bytes)
{
    struct voice *v = context;

    if (v->bytes + bytes < sizeof v->text) {
        memcpy(v->text + v->bytes, text, bytes);
        v->bytes += bytes;
        v->text[v->bytes] = '\0';
    }
    v->inside = ingot_session_clear(v->session);
    return ++v->pieces != v->most;
}

static bool go_on(void *context)
{
    struct voice *v = context;

    return ++v->asked != v->asks;
}

static void make_params(void)
{
    for (unsigned i = 0; i < N; i++)
        params[i] = rig_greedy();
    params[1].temp = 0.9f;
    params[1].seed = 3;
    params[2].limit = 25;
    params[3].stops[0] = "!";
    params[3].n_stops = 1;
}

static enum ingot_error ask(struct voice *v, struct ingot_session *s, unsigned question)
{
    struct ingot_turn turn = { .text = questions[question],
                               .text_bytes = strlen(questions[question]) };

    memset(v, 0, sizeof *v);
    v->session = s;
    (void)ingot_session_clear(s);
    return ingot_prompt_turn(s, &turn);
}

static void hear(struct voice *v)
{
    uint32_t positions;

    (void)ingot_logits_hash(v->session, &v->hash, &positions);
}

static void open_rig(struct rig *r, uint32_t sessions, uint64_t weight_bytes)
{
    rig_init(r, DEMO);
    rig_memory(r, RIG_MEMORY);
    r->setup.sessions = sessions;
    r->setup.weight_bytes = weight_bytes;
    OK(rig_start(r) == INGOT_OK, "a model with %u sessions opens: %s", (unsigned)sessions,
       ingot_error_message(r->model));
}

static void run_alone(void)
{
    struct rig r;

    open_rig(&r, 0, 0);
    for (unsigned i = 0; i < N; i++) {
        (void)ask(&alone[i], r.session, i);
        if (ingot_generate(r.session, &params[i], speak, &alone[i], &alone[i].result) != INGOT_OK)
            OK(false, "question %u is answered alone: %s", i, ingot_error_message(r.model));
        hear(&alone[i]);
    }
    OK(strcmp(alone[0].text, RIG_ANSWER) == 0 && alone[3].result.end == INGOT_END_STOP &&
           alone[2].result.end == INGOT_END_LIMIT,
       "each session alone gives its own reply");
    rig_end(&r);
}

static void begin_sessions(struct rig *r, struct ingot_session *sessions[N])
{
    struct ingot_session *more;

    sessions[0] = r->session;
    for (unsigned i = 1; i < N; i++) {
        if (ingot_session_begin(r->model, &sessions[i]) != INGOT_OK)
            OK(false, "session %u begins: %s", i, ingot_error_message(r->model));
    }
    OK(ingot_session_begin(r->model, &more) == INGOT_WRONG_ORDER && more == NULL,
       "a session too many is refused: %s", ingot_error_message(r->model));
}

static enum ingot_error in_parallel(struct ingot_session *sessions[N])
{
    struct ingot_reply replies[N];
    enum ingot_error e;

    for (unsigned i = 0; i < N; i++) {
        replies[i] = (struct ingot_reply){ sessions[i], &params[i], speak, &parallel[i], { 0 } };
    }
    e = ingot_generate_parallel(replies, N);
    for (unsigned i = 0; i < N; i++) {
        parallel[i].result = replies[i].result;
        hear(&parallel[i]);
    }
    return e;
}

static bool same(unsigned i)
{
    return strcmp(alone[i].text, parallel[i].text) == 0 && alone[i].hash == parallel[i].hash &&
           alone[i].result.end == parallel[i].result.end &&
           alone[i].result.new_tokens == parallel[i].result.new_tokens &&
           alone[i].result.prompt_tokens == parallel[i].result.prompt_tokens;
}

static void test_parallel(uint64_t weight_bytes)
{
    struct ingot_session *sessions[N];
    struct ingot_model_info info;
    struct rig r;
    unsigned n = 0;

    open_rig(&r, N, weight_bytes);
    begin_sessions(&r, sessions);
    for (unsigned i = 0; i < N; i++)
        (void)ask(&parallel[i], sessions[i], i);
    OK(in_parallel(sessions) == INGOT_OK, "parallel replies are generated: %s",
       ingot_error_message(r.model));
    for (unsigned i = 0; i < N; i++)
        n += same(i);
    OK(n == N && ingot_model_describe(r.model, &info) == INGOT_OK &&
           (info.residency == INGOT_STREAMED) == (weight_bytes != 0) && rig_guarded(&r),
       "%s: %u of %d replies are the same as alone", weight_bytes != 0 ? "streamed" : "resident", n,
       N);
    OK(parallel[0].inside == INGOT_WRONG_ORDER, "a call from a callback is refused");

    for (unsigned i = 0; i < N; i++)
        (void)ask(&parallel[i], sessions[i], i);
    parallel[1].most = 2;
    parallel[2].asks = 4;
    params[2].go_on = go_on;
    OK(in_parallel(sessions) == INGOT_OK && parallel[1].result.end == INGOT_END_CALLER &&
           parallel[1].pieces == 2 && parallel[2].result.end == INGOT_END_CALLER &&
           parallel[2].asked == 4 && same(0) && same(3),
       "two replies stop by their callbacks, and the other two go on");
    params[2].go_on = NULL;
    r.said_bytes = 0;
    OK(rig_turn(&r, questions[1]) == INGOT_OK && rig_generate(&r, &params[0], NULL) == INGOT_OK &&
           r.said_bytes != 0,
       "one session goes on alone: %s", r.said);
    rig_end(&r);
}

static void test_refused(void)
{
    struct rig r, other;
    struct ingot_reply replies[INGOT_MOST_SESSIONS + 1] = { { 0 } };
    struct ingot_generate_params bad = rig_greedy();

    open_rig(&r, 2, 0);
    open_rig(&other, 0, 0);
    (void)ask(&parallel[0], r.session, 0);
    (void)ask(&parallel[1], other.session, 1);
    replies[0] = (struct ingot_reply){ r.session, NULL, speak, &parallel[0], { 0 } };
    OK(ingot_generate_parallel(NULL, 1) == INGOT_BAD_ARGUMENT &&
           ingot_generate_parallel(replies, 0) == INGOT_BAD_ARGUMENT &&
           ingot_generate_parallel(replies, INGOT_MOST_SESSIONS + 1) == INGOT_BAD_ARGUMENT &&
           ingot_generate_parallel(replies, 2) == INGOT_BAD_ARGUMENT,
       "none, too many, or no session is refused");
    replies[1] = replies[0];
    OK(ingot_generate_parallel(replies, 2) == INGOT_BAD_ARGUMENT,
       "a session that is named twice is refused: %s", ingot_error_message(r.model));
    replies[1].session = other.session;
    OK(ingot_generate_parallel(replies, 2) == INGOT_BAD_ARGUMENT,
       "sessions of two models are refused: %s", ingot_error_message(r.model));
    (void)ingot_session_begin(r.model, &replies[1].session);
    OK(ingot_generate_parallel(replies, 2) == INGOT_WRONG_ORDER,
       "a session without a prompt is refused: %s", ingot_error_message(r.model));
    bad.temp = -1;
    replies[0].params = &bad;
    OK(ingot_generate_parallel(replies, 1) == INGOT_BAD_ARGUMENT && parallel[0].bytes == 0,
       "a parameter out of bounds is refused: %s", ingot_error_message(r.model));
    r.setup.sessions = INGOT_MOST_SESSIONS + 1;
    (void)ingot_close(r.model);
    OK(ingot_open(&r.setup, &r.model) == INGOT_BAD_ARGUMENT, "nine sessions are refused");
    rig_end(&r);
    rig_end(&other);
}

int main(void)
{
    make_params();
    run_alone();
    test_parallel(0);
    test_parallel(600 << 10);
    test_refused();
    return tap_done();
}
