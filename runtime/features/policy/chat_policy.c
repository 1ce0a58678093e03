#include "runtime/features/policy/chat_policy.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/session/repetition.h"
#include "runtime/text/format_text.h"

#define COOLER 0.5f
#define WARMER 1.25f

enum { EXPLORED_TURNS = 4 /* with policy=explore: one of so many tries something */ };

void chat_policy_open(struct chat *c)
{
    struct model *m = c->session->model;
    uint32_t dim = m->image.header->params.dim;

    experience_open(&c->policy.experience,
                    arena_take(&m->arena, ARENA_LEARN, experience_bytes(dim)), dim);
    c->policy.is_open = true;
}

/* ---- the question --------------------------------------------------------------------------- */

/* Whether the reply can be asked for without thoughts, by other tokens at the turn's end. */
static bool can_stop_thoughts(const struct chat *c)
{
    return c->options->reply.think != THINK_OFF && c->template->bytes[INGOT_CHAT_NO_THINKING] != 0;
}

/* The turn without thoughts, after the session's ids: *n tokens; 0: there is no such turn, or no room. */
static uint32_t *encode_quiet(struct chat *c, const char *text, size_t bytes, bool first, size_t *n)
{
    uint32_t think = c->options->reply.think, room, *ids = session_room(c->session, &room);
    enum err e = ERR_UNSUPPORTED;

    if (can_stop_thoughts(c)) {
        c->options->reply.think = THINK_OFF;
        e = chat_encode(c, text, bytes, true, first, ids, room, n);
        c->options->reply.think = think;
    }
    if (e != ERR_OK) {
        *n = 0;
    }
    return ids;
}

/* Where the question begins that takes the turn's tokens [own, to): after what all conversations begin with,
 * which is often computed already. */
static uint32_t question_start(struct chat *c, uint32_t own, uint32_t to)
{
    uint32_t opening = c->started ? 0 : (uint32_t)chat_encode_opening(c);

    return min_u32(own + opening, to - 1);
}

/* Compute tokens up to number `to`, those of the question under the eyes of the policy. */
static enum err look_at(struct chat *c, uint32_t own, uint32_t to, const struct stop *stop)
{
    struct session *s = c->session;
    struct transformer *t = &s->model->transformer;
    struct session_hash hash = s->hash;
    enum err e;

    experience_watch(&c->policy.experience, question_start(c, own, to));
    t->experience = &c->policy.experience;
    (void)session_cut(s, to); /* the ids stay where they are */
    e = session_run(s, stop);
    t->experience = NULL;
    s->hash = hash; /* of replies alone, as without a policy */
    return e;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* One choice of one head is another, so that others than the defaults are seen as well. */
static void explore(struct chat *c, uint8_t choice[POLICY_HEADS])
{
    uint32_t turn = c->policy.experience.totals.turns, round = turn / EXPLORED_TURNS;
    uint32_t head = round % POLICY_HEADS;

    if (c->options->load.policy == POLICY_EXPLORE && turn % EXPLORED_TURNS == EXPLORED_TURNS - 1) {
        uint8_t n = policy_choices((enum policy_head)head);

        choice[head] = (uint8_t)((choice[head] + 1 + round / POLICY_HEADS % (n - 1u)) % n);
    }
}

static void choose(struct chat *c, uint32_t own, const char *text, size_t bytes, bool can_be_quiet)
{
    const struct session *s = c->session;
    struct chat_policy *p = &c->policy;
    uint8_t learns_from[POLICY_HEADS];
    struct experience_question q = { .text = text,
                                     .bytes = bytes,
                                     .tokens = s->n_ids - own,
                                     .turns = c->turns.n,
                                     .pressure = (float)s->n_ids / (float)s->context,
                                     .throughput = p->throughput };

    experience_choose(&p->experience, &q, &p->choice);
    memset(learns_from, 0, sizeof learns_from);
    if (c->options->load.policy != POLICY_WATCH) {
        memcpy(learns_from, p->choice.own, sizeof learns_from);
        explore(c, learns_from);
    }
    if (!can_be_quiet) {
        learns_from[POLICY_THOUGHTS] = 0;
    }
    memcpy(p->took, learns_from, sizeof p->took);
    for (int k = 0; k < POLICY_HEADS && c->options->load.policy != POLICY_WATCH; k++) {
        if (p->choice.own[k] != p->choice.choice[k]) { /* a trigger, which may depend on time */
            p->took[k] = p->choice.choice[k];
        }
    }
    experience_took(&p->experience, learns_from);
}

/* Until chat_policy_end. */
static void put_to_work(struct chat *c)
{
    static const float warmth[] = { 1.0f, COOLER, WARMER };
    struct chat_policy *p = &c->policy;

    p->temp = c->sampler.params.temp;
    p->timed = c->speculative.timed;
    c->sampler.params.temp *= warmth[p->took[POLICY_WARMTH]];
    if (p->took[POLICY_DRAFT] == 1) {
        c->speculative.timed = false;
    }
    p->works = true;
}

enum err chat_policy_begin(struct chat *c, uint32_t own, const char *text, size_t bytes,
                           const struct stop *stop)
{
    struct session *s = c->session;
    struct chat_policy *p = &c->policy;
    uint32_t end = s->n_ids, same = own;
    uint32_t *quiet;
    size_t n;
    enum err e;

    p->works = false;
    if (!p->is_open) {
        return ERR_OK;
    }
    experience_settle(&p->experience);
    if (end < own + 2) {
        return ERR_OK;
    }
    quiet = encode_quiet(c, text, bytes, !c->started, &n);
    while (same < end - 1 && (n == 0 || (same - own < n && s->ids[same] == quiet[same - own]))) {
        same++;
    }
    if (same == own) { /* the turns have nothing in common */
        return ERR_OK;
    }
    p->start = platform_ticks(&c->console->platform->clock);
    p->before = s->model->stream.stats;
    p->computed = same - s->n_cached;
    e = look_at(c, own, same, stop);
    if (e != ERR_OK) {
        return e;
    }
    choose(c, own, text, bytes, n > same - own);
    if (p->took[POLICY_THOUGHTS] == 1) {
        e = session_put(s, quiet + (same - own), n - (same - own));
    } else {
        e = session_put(s, s->ids + same, end - same);
    }
    put_to_work(c);
    return e;
}

/* ---- how it went ---------------------------------------------------------------------------- */

/* The reply's tokens a second, of those that the plan expects. */
static float measure(const struct chat *c, const struct generate_result *r)
{
    uint64_t hz = c->console->platform->clock.hz,
             planned = c->session->model->plan.prediction.decode_ns;
    float took = (float)(r->last - r->first) * 1e9f / (float)hz;

    if (planned == 0 || r->new_tokens < 2 || !(took > 0.0f)) {
        return 0.0f;
    }
    return (float)(r->new_tokens - 1) * (float)planned / took;
}

/* Also where the reply had a limit, and nobody looked for it meanwhile. */
static bool repeats_itself(const struct session *s, const struct generate_result *r)
{
    struct repetition repetition = { 0 };
    bool repeats = false;

    for (uint32_t i = r->first_new; i < s->n_ids; i++) {
        repeats = repetition_add(&repetition, s->ids + i) || repeats;
    }
    return repeats;
}

void chat_policy_end(struct chat *c, struct generate_result *r, enum err error)
{
    struct chat_policy *p = &c->policy;

    if (!p->works) {
        return;
    }
    p->works = false;
    c->sampler.params.temp = p->temp;
    c->speculative.timed = p->timed;
    r->prompt_tokens += p->computed;
    r->start = p->start;
    r->before = p->before;
    if (r->first == 0 || (error != ERR_OK && error != ERR_ABORTED)) {
        experience_forget(&p->experience);
        return;
    }
    p->throughput = measure(c, r);
    experience_ended(&p->experience,
                     error == ERR_OK && (r->end == GENERATE_ENDED || r->end == GENERATE_STOP),
                     repeats_itself(c->session, r));
}

uint32_t chat_policy_room(const struct chat *c)
{
    static const uint8_t quarters[] = { 3, 2, 1 };
    const struct session *s = c->session;
    const struct chat_policy *p = &c->policy;
    uint8_t tier = 0;

    if (p->is_open && c->options->load.policy != POLICY_WATCH) {
        bool full = (float)s->n_ids > POLICY_PRESSURE * (float)s->context;

        tier = full ? POLICY_SMALLEST_CONTEXT : p->took[POLICY_CONTEXT];
    }
    return s->context / 4 * quarters[tier];
}

void chat_policy_clear(struct chat *c)
{
    if (c->policy.is_open) {
        experience_begin(&c->policy.experience);
        memset(c->policy.took, 0, sizeof c->policy.took);
    }
}

bool chat_policy_rate(struct chat *c, bool good)
{
    return c->policy.is_open && experience_rate(&c->policy.experience, good);
}

bool chat_policy_undone(struct chat *c)
{
    return c->policy.is_open && experience_undone(&c->policy.experience);
}

const char *chat_policy_text(const struct chat *c, char *text, size_t bytes)
{
    static const char *const heads[POLICY_HEADS] = { "guesses", "thoughts", "context",
                                                     "temperature" };
    static const char *const names[POLICY_HEADS][POLICY_CHOICES] = {
        { "as set", "always" },
        { "as set", "off" },
        { "as set", "half", "a quarter" },
        { "as set", "halved", "raised" },
    };
    const struct chat_policy *p = &c->policy;
    size_t n = 0;

    text[0] = '\0';
    for (int k = 0; k < POLICY_HEADS; k++) {
        char sure[FORMAT_NUMBER_BYTES];

        n += format_text(text + n, bytes - n, "%s%s %s (%s)", k == 0 ? "" : ", ", heads[k],
                         names[k][p->took[k]],
                         format_milli(sure, (uint64_t)(p->choice.sure[k] * 1000.0f), 2));
    }
    return text;
}
