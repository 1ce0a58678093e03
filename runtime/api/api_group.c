#include "runtime/api/api_group.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/api/api_tokens.h"
#include "runtime/chat/chat_json.h"
#include "runtime/text/format_text.h"

enum { TURN_MS = 100 }; /* the most ms that a turn adds to the time a client has waited */

size_t api_group_bytes(uint32_t n)
{
    return sizeof(struct api_group) + n * sizeof(struct api_member);
}

/* Let the network work between two layers, as a reply at the line does. */
static bool give_turn(void *context)
{
    struct api *a = context;
    uint64_t now = api_now_ms(a);

    if (now != a->last_poll) {
        a->last_poll = now;
        platform_alive(&a->setup.platform->power);
        a->setup.poll(a->setup.context);
    }
    return false;
}

void api_group_open(struct api_group *g, struct api *a, uint32_t n)
{
    g->api = a;
    g->n = n;
    g->stop = (struct stop){ give_turn, a };
    for (uint32_t i = 0; i < n; i++) {
        g->members[i].group = g;
    }
}

static uint32_t count_busy(const struct api_group *g)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        n += g->members[i].busy;
    }
    return n;
}

bool api_group_works(const struct api_group *g)
{
    return count_busy(g) != 0;
}

uint32_t api_group_free(const struct api_group *g)
{
    return g->replies.n - count_busy(g);
}

static struct session *session_of(const struct api_member *m)
{
    return m->group->replies.slots[m->slot].session;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* End the answer and free its slot. */
static void end_member(struct api_member *m)
{
    struct api_group *g = m->group;

    replies_leave(&g->replies, m->slot);
    g->replies.slots[m->slot].waits = false;
    m->busy = false;
    api_event_end(g->api);
}

static void fail_all(struct api_group *g, int status, const char *why)
{
    for (uint32_t i = 0; i < g->n; i++) {
        struct api_member *m = &g->members[i];
        struct api_error e;

        if (m->busy) {
            g->api->work = &m->work;
            (void)api_refuse(&e, status, NULL, NULL, "%s", why);
            api_reply_fail(g->api, &e);
            api_reply_end(g->api);
            end_member(m);
        }
    }
}

void api_group_use(struct api_group *g, struct session *const *sequences, uint32_t n,
                   uint32_t version)
{
    uint32_t model = n != 0 ? session_model_crc(sequences[0]) : 0;

    n = n < g->n ? n : g->n;
    if (n == g->replies.n && version == g->version && model == g->model) {
        return;
    }
    for (uint32_t i = 0; i < GROUP_MOST; i++) {
        g->replies.slots[i].busy = false; /* other code may have changed the sequences */
    }
    fail_all(g, 503, "another model or adapter was loaded, or /bench ran: send the request again");
    memset(g->replies.slots, 0, sizeof g->replies.slots);
    g->replies.n = n;
    g->version = version;
    g->model = model;
    for (uint32_t i = 0; i < n; i++) {
        g->replies.slots[i].session = sequences[i];
        session_clear(sequences[i]);
    }
}

/* ---- the beginning --------------------------------------------------------------------------- */

struct api_member *api_group_room(struct api_group *g, const struct api_client *k, bool *later)
{
    bool fits = g->replies.n != 0 && !k->uploads &&
                (k->kind == API_CHAT || k->kind == API_CONTINUE);

    *later = false;
    for (uint32_t i = 0; fits && i < g->replies.n; i++) {
        if (!g->members[i].busy) {
            return &g->members[i];
        }
    }
    *later = fits;
    return NULL;
}

static void take_text(void *context, const char *text, size_t bytes)
{
    struct api_member *m = context;

    if (!m->thinks) {
        (void)api_text_put(&m->work.job.text, text, bytes);
    }
}

static void take_think(void *context, bool begins)
{
    ((struct api_member *)context)->thinks = begins;
}

static void take_scores(void *context, const struct token_scores *scores)
{
    struct api_member *m = context;

    if (!m->thinks) {
        (void)api_tokens_add_scores(&m->work.job.scores, session_of(m), scores);
    }
}

static void *take_scratch(void *owner, size_t bytes)
{
    const struct session_scratch *scratch = &((const struct session *)owner)->scratch;

    return bytes <= scratch->bytes ? scratch->memory : NULL;
}

static void leave_scratch(void *owner, void *memory)
{
    (void)owner;
    (void)memory;
}

/* Write the prompt after the tokens of a free sequence. If both together do not fit, the sequence's
 * tokens are dropped. Returns NULL with the reason in *e if the prompt does not fit. */
static const uint32_t *encode(struct session *s, const struct api_request *q, size_t *n,
                              struct api_error *e)
{
    struct api_encoder x = { .model = s->model,
                             .context = s->context - s->n_ids,
                             .take = take_scratch,
                             .leave = leave_scratch,
                             .owner = s };
    uint32_t room;

    session_forget_guesses(s);
    if (api_tokens_encode(&x, q, session_room(s, &room), n, e)) {
        return session_room(s, &room);
    }
    session_clear(s);
    x.context = s->context;
    return api_tokens_encode(&x, q, session_room(s, &room), n, e) ? session_room(s, &room) : NULL;
}

static uint32_t same_tokens(const struct session *s, const uint32_t *ids, size_t n)
{
    uint32_t same = 0;

    while (same < s->n_ids && same < n && s->ids[same] == ids[same]) {
        same++;
    }
    return same;
}

/* Return the free slot whose sequence begins with the most tokens of the prompt's beginning; *same
 * is their number. `free` is any free slot. */
static uint32_t best_slot(const struct replies *r, uint32_t free, const uint32_t *ids, size_t n,
                          uint32_t *same)
{
    uint32_t best = free;

    *same = same_tokens(r->slots[free].session, ids, n);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t here = r->slots[i].busy ? 0 : same_tokens(r->slots[i].session, ids, n);

        if (here > *same) {
            best = i;
            *same = here;
        }
    }
    return best;
}

static uint32_t free_slot(const struct replies *r)
{
    uint32_t i = 0;

    while (r->slots[i].busy) {
        i++;
    }
    return i;
}

/* Put the prompt of reply m->reply into a slot. If that fails, *e says why. */
static bool put_prompt(struct api_member *m, struct api_error *e)
{
    struct replies *r = &m->group->replies;
    struct api_job *j = &m->work.job;
    uint32_t first = free_slot(r), same;
    const uint32_t *ids;
    size_t n;

    ids = encode(r->slots[first].session, &j->request, &n, e);
    if (ids == NULL) {
        (void)format_text(e->param, sizeof e->param, "%s",
                          j->request.kind == API_CHAT ? "messages" : "prompt");
        return false;
    }
    m->slot = best_slot(r, first, ids, n, &same);
    same = same < n ? same : (uint32_t)n - 1; /* at least one token has to be computed */
    (void)session_cut(session_of(m), same);
    if (session_put(session_of(m), ids + same, n - same) != ERR_OK) {
        return api_refuse(e, 400, NULL, "context_length_exceeded",
                          "the prompt does not fit the context: shorten it");
    }
    return true;
}

/* Returns false if there is no reply; the answer says why. */
static bool begin_reply(struct api_member *m)
{
    struct api *a = m->group->api;
    struct api_work *w = &m->work;
    struct api_request *q = &w->job.request;
    struct sampler_params sampler = q->sampler;
    struct api_error e = { .status = 0 };
    bool good;

    q->prompt = m->reply / (q->n_choices != 0 ? q->n_choices : 1);
    w->memory.used = w->request_bytes;
    good = put_prompt(m, &e);
    api_reply_begin(a, m->reply);
    if (!good) {
        api_reply_fail(a, &e);
        api_reply_end(a);
        return false;
    }
    w->job.cached_tokens = session_of(m)->n_cached;
    w->job.prompt_tokens = session_of(m)->n_ids;
    sampler.seed += m->reply;
    sampler.biases = m->biases.list;
    sampler.n_biases = m->biases.n;
    m->thinks = false;
    m->params = api_tokens_params(q, session_of(m)->model->image.chat);
    m->sink = (struct generate_sink){
        .context = m, .text = take_text, .think = take_think, .scores = take_scores
    };
    replies_begin(&m->group->replies, m->slot, &m->params, &sampler, &m->sink);
    return true;
}

/* Read the biases, but only once, because reading overwrites them. */
static bool read_biases(struct api_member *m)
{
    struct api_request *q = &m->work.job.request;
    const char *why;

    m->biases.n = 0;
    if (q->biases.n == 0) {
        return true;
    }
    why = json_biases_read(&m->biases, q->biases.bytes, q->biases.n,
                           m->group->replies.slots[0].session);
    if (why != NULL) {
        api_answer_error(m->work.client, 400, why, "logit_bias", "");
    }
    return why == NULL;
}

void api_group_join(struct api_group *g, struct api_member *m)
{
    const struct api_request *q = &m->work.job.request;

    if (!read_biases(m)) {
        return;
    }
    m->reply = 0;
    m->n_replies = q->n_choices != 0 ? q->n_choices : 1;
    m->n_replies *= q->kind == API_CHAT ? 1 : q->n_turns;
    m->waits_since = 0;
    api_event_begin(g->api);
    if (begin_reply(m)) {
        m->busy = true;
    } else {
        api_event_end(g->api);
    }
}

/* ---- a pass ---------------------------------------------------------------------------------- */

/* Return true if the output is full because its client does not read, or has read slowly for long.
 * A turn counts as TURN_MS at most, because a reply on the serial line may have delayed it. */
static bool is_slow(struct api_member *m, bool full, uint64_t now)
{
    struct api_work *w = &m->work;

    if (!full) {
        m->waits_since = 0;
        return false;
    }
    if (m->waits_since == 0) {
        m->waits_since = m->looked_ms = now;
    }
    w->waited_ms += min_u64(now - m->looked_ms, TURN_MS);
    m->looked_ms = now;
    return now - m->waits_since > API_SLOW_MS || w->waited_ms > API_SLOW_ALL_MS;
}

/* While a client does not read its answer, passes skip its reply. Drop a client that is slow or
 * gone. */
static void look_at_client(struct api_member *m)
{
    const struct api_work *w = &m->work;
    const struct api_client *k = w->client;
    bool full = !api_is_gone(m->group->api) && w->begun &&
                k->out_end - k->out_at > API_OUT_BYTES / 2;

    m->group->replies.slots[m->slot].waits = full;
    if (is_slow(m, full, api_now_ms(m->group->api)) || api_is_gone(m->group->api)) {
        m->work.failed = true;
        end_member(m);
    }
}

/* End a complete reply. Begin the request's next reply or, after the last reply, end the member. */
static void end_reply(struct api_member *m)
{
    struct api *a = m->group->api;
    struct api_job *j = &m->work.job;
    const struct generate_result *r = &m->group->replies.slots[m->slot].result;

    api_job_take_result(j, r);
    api_open_console(a);
    chat_json_reply(&a->console, session_of(m), r, "end"); /* its figures */
    api_reply_end(a);
    if (m->work.failed || ++m->reply == m->n_replies || !begin_reply(m)) {
        end_member(m);
    }
}

static void pass_on(struct api_member *m)
{
    struct api *a = m->group->api;
    struct api_job *j = &m->work.job;

    if (j->text.failed || j->scores.failed) {
        api_reply_is_long(a);
        api_reply_end(a);
        end_member(m);
        return;
    }
    if (j->text.n != 0 || m->work.at.begun) {
        api_reply_walk(a);
    }
    if (m->work.failed) {
        end_member(m);
    } else if (!m->group->replies.slots[m->slot].busy) {
        end_reply(m);
    }
}

static void for_each(struct api_group *g, void (*act)(struct api_member *m))
{
    for (uint32_t i = 0; i < g->n; i++) {
        if (g->members[i].busy) {
            g->api->work = &g->members[i].work;
            act(&g->members[i]);
        }
    }
}

static bool any_runs(const struct replies *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->slots[i].busy && !r->slots[i].waits) {
            return true;
        }
    }
    return false;
}

void api_group_pass(struct api_group *g)
{
    for_each(g, look_at_client);
    if (!any_runs(&g->replies)) {
        return;
    }
    if (replies_pass(&g->replies, &g->stop) != ERR_OK) {
        fail_all(g, 500, g->replies.error_message);
        for (uint32_t i = 0; i < g->replies.n; i++) {
            session_clear(g->replies.slots[i].session);
        }
        return;
    }
    for_each(g, pass_on);
}
