/* Pass a reply to a callback, as a sink of generate(). */
#include "library/library.h"

#include <string.h>

#include "runtime/chat/chat_turn.h"
#include "runtime/session/generate.h"

_Static_assert((int)INGOT_MOST_STOPS <= (int)REPLY_TEXT_STOPS &&
                   (int)INGOT_STOP_BYTES == (int)REPLY_TEXT_STOP_BYTES,
               "stop strings that a reply can look for");

#define MOST_TEMP 100.0f
#define SMALLEST_TOP_P 1e-6f

/* One call of ingot_generate. */
struct call {
    const struct ingot_generate_params *params;
    ingot_text_fn *text;
    void *context;
    bool stopped; /* a callback asked to stop */
};

void ingot_generate_default(struct ingot_generate_params *params)
{
    struct sampler_params s;

    if (params == NULL) {
        return;
    }
    sampler_params_default(&s);
    *params = (struct ingot_generate_params){ .temp = s.temp,
                                              .top_p = s.top_p,
                                              .min_p = s.min_p,
                                              .repeat = s.repeat,
                                              .top_k = s.top_k,
                                              .seed = s.seed };
}

enum ingot_error ingot_model_defaults(const struct ingot_model *m,
                                      struct ingot_generate_params *params)
{
    const struct ingot_sampling *s;

    if (m == NULL || params == NULL) {
        return INGOT_BAD_ARGUMENT;
    }
    if (m->stage < LIBRARY_OPEN) {
        return INGOT_WRONG_ORDER;
    }
    ingot_generate_default(params);
    s = &m->model.image.header->sampling;
    params->temp = (s->given & INGOT_SAMPLES_TEMP) != 0 ? s->temp : params->temp;
    params->min_p = (s->given & INGOT_SAMPLES_MIN_P) != 0 ? s->min_p : params->min_p;
    params->repeat = (s->given & INGOT_SAMPLES_REPEAT) != 0 ? s->repeat : params->repeat;
    params->top_k = (s->given & INGOT_SAMPLES_TOP_K) != 0 ? s->top_k : params->top_k;
    if ((s->given & INGOT_SAMPLES_TOP_P) != 0) { /* in a file 0 means: only the likeliest token */
        params->top_p = s->top_p > SMALLEST_TOP_P ? s->top_p : SMALLEST_TOP_P;
    }
    if ((s->given & INGOT_SAMPLES_REPEAT_LAST) != 0) { /* 0 means no penalty */
        params->repeat_last = s->repeat_last;
        params->repeat = s->repeat_last != 0 ? params->repeat : 1;
    }
    return INGOT_OK;
}

/* ---- arguments ------------------------------------------------------------------------------ */

/* Return true if a value is within bounds; NaN never is. */
static bool within(float value, float least, float most)
{
    return value >= least && value <= most;
}

static bool good_stops(const struct ingot_generate_params *p)
{
    if (p->n_stops > INGOT_MOST_STOPS) {
        return false;
    }
    for (uint32_t i = 0; i < p->n_stops; i++) {
        const char *stop = p->stops[i];

        if (stop == NULL || stop[0] == '\0' || memchr(stop, '\0', INGOT_STOP_BYTES) == NULL) {
            return false;
        }
    }
    return true;
}

bool library_good_params(const struct ingot_generate_params *p)
{
    return within(p->temp, 0, MOST_TEMP) && within(p->top_p, 0, 1) && p->top_p > 0 &&
           within(p->min_p, 0, 1) && within(p->repeat, 0, MOST_TEMP) && p->repeat > 0 &&
           good_stops(p);
}

/* ---- the sink ------------------------------------------------------------------------------- */

static void hand_on(void *context, const char *text, size_t bytes)
{
    struct call *call = context;

    if (!call->stopped && call->text != NULL && bytes != 0) {
        call->stopped = !call->text(call->context, text, bytes);
    }
}

static bool stop_is_wanted(void *context)
{
    struct call *call = context;

    if (!call->stopped && call->params->go_on != NULL) {
        call->stopped = !call->params->go_on(call->context);
    }
    return call->stopped;
}

/* ---- the reply ------------------------------------------------------------------------------ */

void library_set_params(const struct ingot_session *s, const struct ingot_generate_params *p,
                        const struct stop *stop, struct generate_params *out)
{
    const struct ingot_chat *chat = s->model->model.image.chat;

    *out = (struct generate_params){ .limit = p->limit,
                                     .stops.n = p->n_stops,
                                     .end_ids = chat->stops,
                                     .n_end_ids = chat->n_stops,
                                     .prompt_stop = stop,
                                     .stop = stop };
    for (uint32_t i = 0; i < p->n_stops; i++) {
        out->stops.text[i] = p->stops[i];
    }
}

struct sampler_params library_sampler(const struct ingot_generate_params *p)
{
    return (struct sampler_params){ .temp = p->temp,
                                    .top_p = p->top_p,
                                    .min_p = p->min_p,
                                    .repeat = p->repeat,
                                    .top_k = p->top_k,
                                    .seed = p->seed,
                                    .repeat_last = p->repeat_last != 0 ? p->repeat_last
                                                                       : SAMPLER_REPEAT_LAST };
}

/* Give the model's only guessing state to a session, and return it. */
static struct speculative *speculative_of(struct ingot_session *s)
{
    static const struct speculative_params guessing = { SPECULATIVE_AUTO, false };
    struct speculative *speculative = &s->model->speculative;

    if (speculative->session != &s->session) {
        speculative_open(speculative, &s->session, NULL, &guessing);
    }
    return speculative;
}

static enum err run(struct ingot_session *s, struct call *call, struct generate_result *r)
{
    const struct ingot_generate_params *p = call->params;
    struct sampler_params params = library_sampler(p);
    struct sampler sampler;
    struct generator generator = { &s->session, speculative_of(s), &sampler, NULL };
    struct generate_sink sink = { .context = call, .text = hand_on };
    struct stop stop = { stop_is_wanted, call };
    struct generate_params inner;
    enum err e;

    sampler_init(&sampler, &params);
    library_set_params(s, p, &stop, &inner);
    s->session.error_message[0] = '\0';
    s->model->busy = true;
    e = generate(&generator, &inner, &sink, r);
    s->model->busy = false;
    if (e == ERR_OK && r->end == GENERATE_STOP) {
        generate_keep_shown(&s->session, r);
    }
    return e;
}

void library_report(const struct generate_result *r, bool stopped,
                    struct ingot_generate_result *out)
{
    static const enum ingot_end ends[] = {
        [GENERATE_ENDED] = INGOT_END_MODEL,
        [GENERATE_LIMIT] = INGOT_END_LIMIT,
        [GENERATE_STOP] = INGOT_END_STOP,
        [GENERATE_CONTEXT] = INGOT_END_CONTEXT,
        [GENERATE_REPETITION] = INGOT_END_REPETITION,
        [GENERATE_NO_WAY_ON] = INGOT_END_STOP, /* never comes: the library has no constraints */
    };

    *out = (struct ingot_generate_result){ .end = ends[r->end],
                                           .prompt_tokens = r->prompt_tokens,
                                           .new_tokens = r->new_tokens };
    if (r->first != 0) {
        out->prompt_ticks = r->first - r->start;
        out->reply_ticks = r->last - r->first;
    }
    if (stopped) {
        out->end = INGOT_END_CALLER;
    }
}

static enum ingot_error reply(struct ingot_session *s, struct call *call,
                              struct ingot_generate_result *result)
{
    enum ingot_error error = library_leave_pending(s);
    struct generate_result r;
    enum err e;

    if (error != INGOT_OK) {
        return error;
    }
    e = run(s, call, &r);
    if (result != NULL) {
        library_report(&r, call->stopped, result);
    }
    if (e == ERR_ABORTED && call->stopped) {
        return INGOT_OK;
    }
    return library_failed(s->model, e, s->session.error_message);
}

enum ingot_error ingot_generate(struct ingot_session *s, const struct ingot_generate_params *params,
                                ingot_text_fn *text, void *context,
                                struct ingot_generate_result *result)
{
    struct ingot_generate_params defaults;
    struct call call = { params, text, context, false };
    enum ingot_error error = library_check_session(s);

    if (error != INGOT_OK) {
        return error;
    }
    if (params == NULL) {
        (void)ingot_model_defaults(s->model, &defaults);
        call.params = &defaults;
    }
    if (!library_good_params(call.params)) {
        return library_refuse(s->model, INGOT_BAD_ARGUMENT,
                              "a parameter of the sampler or a stop string is out of bounds");
    }
    return reply(s, &call, result);
}
