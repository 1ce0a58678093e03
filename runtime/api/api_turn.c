/* Reads the requests that wait for the model, and answers them alone or in the group. */
#include <string.h>

#include "runtime/api/api.h"
#include "runtime/api/api_group.h"
#include "runtime/api/api_limits.h"
#include "runtime/api/api_line.h"
#include "runtime/chat/chat_json.h"
#include "runtime/text/format_text.h"

static struct api_client *next_client(struct api *a)
{
    struct api_client *next = NULL;

    for (unsigned i = 0; i < API_CLIENTS; i++) {
        struct api_client *k = &a->clients[i];

        if (k->stage == API_WAITS && (next == NULL || k->order < next->order)) {
            next = k;
        }
    }
    return next;
}

/* Use the stops of the boot options for a request that has none. */
static void use_stops(struct api_request *q, const struct options_reply *o)
{
    for (uint32_t i = 0; i < o->n_stops && q->n_stops == i; i++) {
        (void)format_text(q->stops[q->n_stops++], sizeof q->stops[0], "%s", o->stop[i]);
    }
}

/* Read the current request from its body into memory (API_MEMORY_BYTES). Returns false if the
 * request was answered with an error. */
static bool read_request(struct api *a, const struct chat *c, void *memory)
{
    struct api_work *w = a->work;
    struct api_client *k = w->client;
    const struct options *o = c->options;
    const struct api_defaults defaults = {
        .system = options_given(o, OPTION_SYSTEM) ? o->reply.system : NULL,
        .sampler = o->sampler,
        .no_thinking = o->reply.think == THINK_OFF,
        .n = o->reply.n,
        .holder = &api_holder,
    };
    struct api_error e = { .status = 0 };
    struct api_request *q = &w->job.request;

    api_memory_open(&w->memory, memory, API_MEMORY_BYTES);
    q->memory = &w->memory;
    if (!api_request_read(q, k->kind, k->body, k->body_bytes, &defaults, &e) ||
        !api_may_answer(q, &e)) {
        api_answer_error(k, e.status, e.text, e.param, e.code);
        return false;
    }
    if (!api_reply_has_room(a)) {
        api_answer_error(k, 413, "the request is too long for this board: shorten it", "messages",
                         "context_length_exceeded");
        return false;
    }
    if (!q->seeded) {
        q->sampler.seed = platform_ticks(&a->setup.platform->clock) + w->number;
    }
    use_stops(q, &c->options->reply);
    q->unmarked = true; /* a request from the network must not drive pins */
    return true;
}

/* Make reply i to the request. Returns false if no other reply follows. */
static bool reply(struct api *a, struct chat *c, const char *conversation, uint32_t i)
{
    struct api_work *w = a->work;
    struct api_request *q = &w->job.request;
    uint32_t each = q->n_choices != 0 ? q->n_choices : 1;
    uint32_t all = each * (q->kind == API_CHAT ? 1 : q->n_turns);
    struct api_text line;

    api_reply_begin(a, i);
    q->prompt = i / each;
    api_text_open(&line, a->line, sizeof a->line);
    api_line_put(&line, q, i, w->number, q->sampler.seed + i);
    if (line.failed) {
        api_answer_error(w->client, 413, "the request is too long for this board: shorten it",
                         "messages", "context_length_exceeded");
        w->failed = true;
        return false;
    }
    api_open_console(a);
    chat_json_guest(c, &a->console, conversation, line.bytes, line.n);
    api_reply_end(a);
    return !w->failed && i + 1 < all;
}

/* Answer the current request. */
static void answer(struct api *a, struct chat *c, const char *conversation)
{
    const struct api_setup *s = &a->setup;
    struct api_work *w = a->work;
    const struct api_request *q = &w->job.request;
    const char *why = q->grammar != NULL ? s->hold(s->context, q->grammar, q->grammar_bytes) : NULL;

    if (why != NULL) {
        api_answer_error(w->client, 400, why, q->may_call ? "tools" : "response_format",
                         "unsupported_parameter");
        return;
    }
    api_event_begin(a);
    for (uint32_t i = 0; reply(a, c, conversation, i); i++) {
    }
    api_event_end(a);
    if (q->grammar != NULL) {
        s->release(s->context);
    }
}

/* Run a line of mode=json. The line's events are the answer, unchanged. */
static void pass_line(struct api *a, struct chat *c, const char *conversation)
{
    const struct api_client *k = a->work->client;

    memcpy(a->line, k->body, k->body_bytes + 1);
    api_open_console(a);
    chat_json_guest(c, &a->console, conversation, a->line, k->body_bytes);
    api_event_end(a);
}

/* Serve the current request. m is a free member of the group if the request may join the group,
 * otherwise NULL. */
static void serve(struct api *a, struct chat *c, const char *conversation, struct api_member *m)
{
    const struct api_work *w = a->work;

    if (w->client->uploads) {
        api_upload_serve(a);
    } else if (w->client->kind == API_LOAD) {
        api_load_serve(a);
    } else if (w->client->kind == API_LINE) {
        if (!api_load_line(a, c)) {
            pass_line(a, c, conversation);
        }
    } else if (read_request(a, c, m != NULL ? m->memory : a->memory)) {
        if (m != NULL && w->job.request.grammar == NULL) {
            api_group_join(a->group, m);
        } else {
            answer(a, c, conversation);
        }
    }
}

enum begun { BEGUN_NONE, BEGUN_JOINED, BEGUN_ALONE };

/* Begin the request that has waited longest, unless no member of the group is free for it. */
static enum begun begin(struct api *a, struct chat *c, const char *conversation)
{
    struct api_client *k = next_client(a);
    struct api_member *m;
    struct api_work *w;
    bool later;

    if (k == NULL) {
        return BEGUN_NONE;
    }
    m = api_group_room(a->group, k, &later);
    if (later) {
        return BEGUN_NONE;
    }
    w = m != NULL ? &m->work : &a->alone;
    memset(w, 0, sizeof *w);
    w->client = k;
    w->caller = k->callers;
    w->number = ++a->n_answers;
    w->job.request.kind = k->uploads ? API_CHAT : k->kind;
    a->work = w;
    k->stage = API_WORKS;
    serve(a, c, conversation, m);
    return m != NULL ? BEGUN_JOINED : BEGUN_ALONE;
}

/* A request that was answered alone may have loaded another model. So the group's pass does not
 * follow in the same turn but in the next one: before each turn, api_set_sequences tells the group
 * what changed. */
void api_serve(struct api *a, struct chat *c, const char *conversation)
{
    enum begun begun = a->was_alone && api_group_works(a->group) ? BEGUN_NONE : BEGUN_JOINED;

    while (begun == BEGUN_JOINED) {
        begun = begin(a, c, conversation);
    }
    a->was_alone = begun == BEGUN_ALONE;
    if (begun == BEGUN_NONE && api_group_works(a->group)) {
        api_group_pass(a->group);
    }
}
