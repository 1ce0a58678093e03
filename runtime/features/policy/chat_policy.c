#include "runtime/features/policy/chat_policy.h"

#include <string.h>

#include "board/min_max.h"
#include "runtime/chat/chat_private.h"
#include "runtime/chat/chat_turn.h"
#include "runtime/console/console.h"
#include "runtime/features/lessons/chat_learn.h"
#include "runtime/session/repetition.h"
#include "runtime/text/format_text.h"
#include "runtime/text/plural.h"

#define COOLER 0.5f
#define WARMER 1.25f

enum { EXPLORED_TURNS = 4 /* with policy=explore one turn in this many explores */ };

void chat_policy_open(struct chat *c)
{
    struct model *m = c->session->model;
    uint32_t dim = m->image.header->params.dim;

    experience_open(&policy_of(c)->experience,
                    arena_take(&m->arena, ARENA_LEARN, experience_bytes(dim)), dim);
    policy_of(c)->is_open = true;
    lessons_of(c)->also_told = chat_policy_print;
    features_switch(c->features, FEATURE_policy, true);
}

/* ---- the question --------------------------------------------------------------------------- */

/* Return true if the template can end a turn in a way that requests a reply without thoughts. */
static bool can_stop_thoughts(const struct chat *c)
{
    return c->options->reply.think != THINK_OFF && c->template->bytes[INGOT_CHAT_NO_THINKING] != 0;
}

/* Encode the turn for a reply without thoughts, after the session's ids. *n is its number of
 * tokens, or 0 if there is no room or the template has no such form. */
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

/* Return the start of the question in the turn's tokens [own, to). Leave out the beginning that all
 * conversations share, because it is often computed already. */
static uint32_t question_start(struct chat *c, uint32_t own, uint32_t to)
{
    uint32_t opening = c->started ? 0 : (uint32_t)chat_encode_opening(c);

    return min_u32(own + opening, to - 1);
}

static void see(void *experience, uint32_t position, const float *hidden)
{
    experience_see(experience, position, hidden);
}

/* Compute the session's tokens before index `to`. The policy sees the hidden states of the
 * question's tokens. */
static enum err look_at(struct chat *c, uint32_t own, uint32_t to, const struct stop *stop)
{
    struct session *s = c->session;
    struct transformer *t = &s->model->transformer;
    struct session_hash hash = s->hash;
    struct hidden_watch watch = { .see = see, .context = &policy_of(c)->experience };
    enum err e;

    experience_watch(&policy_of(c)->experience, question_start(c, own, to));
    transformer_watch(t, &watch);
    (void)session_cut(s, to); /* the later ids stay in memory */
    e = session_run(s, stop);
    transformer_unwatch(t, &watch);
    s->hash = hash; /* as without a policy, only replies may change the hash */
    return e;
}

/* ---- the choice ------------------------------------------------------------------------------ */

/* Change the choice of one head, so that choices other than the defaults are tried, too. */
static void explore(struct chat *c, uint8_t choice[POLICY_HEADS])
{
    uint32_t turn = policy_of(c)->experience.totals.turns, round = turn / EXPLORED_TURNS;
    uint32_t head = round % POLICY_HEADS;

    if (c->options->load.policy == POLICY_EXPLORE && turn % EXPLORED_TURNS == EXPLORED_TURNS - 1) {
        uint8_t n = policy_choices((enum policy_head)head);

        choice[head] = (uint8_t)((choice[head] + 1 + round / POLICY_HEADS % (n - 1u)) % n);
    }
}

static void choose(struct chat *c, uint32_t own, const char *text, size_t bytes, bool can_be_quiet)
{
    const struct session *s = c->session;
    struct chat_policy *p = policy_of(c);
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
        if (p->choice.own[k] != p->choice.choice[k]) { /* a trigger made this choice, and triggers
                                                        * may depend on time */
            p->took[k] = p->choice.choice[k];
        }
    }
    experience_took(&p->experience, learns_from);
}

/* Apply the choice until the hook end() takes it back. */
static void put_to_work(struct chat *c)
{
    static const float warmth[] = { 1.0f, COOLER, WARMER };
    struct chat_policy *p = policy_of(c);

    p->temp = c->sampler.params.temp;
    p->timed = c->speculative.timed;
    c->sampler.params.temp *= warmth[p->took[POLICY_WARMTH]];
    if (p->took[POLICY_DRAFT] == 1) {
        c->speculative.timed = false;
    }
    p->works = true;
}

/* Compute the tokens of the question, choose, and apply the choice until the reply ends. */
static enum err begin(void *state, struct feature_turn *t, const struct stop *stop)
{
    struct chat_policy *p = state;
    struct chat *c = t->chat;
    struct session *s = c->session;
    uint32_t own = t->own, end = s->n_ids, same = own;
    uint32_t *quiet;
    size_t n;
    enum err e;

    p->works = false;
    experience_settle(&p->experience);
    if (end < own + 2) {
        return ERR_OK;
    }
    quiet = encode_quiet(c, t->told, t->told_bytes, !c->started, &n);
    while (same < end - 1 && (n == 0 || (same - own < n && s->ids[same] == quiet[same - own]))) {
        same++;
    }
    if (same == own) { /* the turns with and without thoughts have no common tokens */
        return ERR_OK;
    }
    p->start = platform_ticks(&c->console->platform->clock);
    p->before = s->model->stream.stats;
    p->computed = same - s->n_cached;
    e = look_at(c, own, same, stop);
    if (e != ERR_OK) {
        return e;
    }
    choose(c, own, t->told, t->told_bytes, n > same - own);
    if (p->took[POLICY_THOUGHTS] == 1) {
        e = session_put(s, quiet + (same - own), n - (same - own));
    } else {
        e = session_put(s, s->ids + same, end - same);
    }
    put_to_work(c);
    return e;
}

/* ---- the result ------------------------------------------------------------------------------ */

/* Return the reply's tokens per second as a fraction of the plan's prediction. */
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

/* Return true if a reply repeats itself. Check afterwards, because a reply with a limit on its
 * tokens is not checked while it runs. */
static bool repeats_itself(const struct session *s, const struct generate_result *r)
{
    struct repetition repetition = { 0 };
    bool repeats = false;

    for (uint32_t i = r->first_new; i < s->n_ids; i++) {
        repeats = repetition_add(&repetition, s->ids + i) || repeats;
    }
    return repeats;
}

/* Tokens that begin() computed count as part of the reply's prompt. */
static void end(void *state, struct feature_turn *t, enum err error)
{
    struct chat_policy *p = state;
    struct chat *c = t->chat;
    struct generate_result *r = &t->result;

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

static uint32_t room(void *state, const struct chat *c)
{
    static const uint8_t quarters[] = { 3, 2, 1 };
    const struct session *s = c->session;
    const struct chat_policy *p = state;
    uint8_t tier = 0;

    if (c->options->load.policy != POLICY_WATCH) {
        bool full = (float)s->n_ids > POLICY_PRESSURE * (float)s->context;

        tier = full ? POLICY_SMALLEST_CONTEXT : p->took[POLICY_CONTEXT];
    }
    return s->context / 4 * quarters[tier];
}

static void clear(void *state, struct chat *c)
{
    struct chat_policy *p = state;

    (void)c;
    experience_begin(&p->experience);
    memset(p->took, 0, sizeof p->took);
}

/* Return true if the policy switched thoughts off: for the current reply if at_work is true, else
 * for the latest reply. */
static bool is_quiet(void *state, bool at_work)
{
    const struct chat_policy *p = state;

    return (p->works || !at_work) && p->took[POLICY_THOUGHTS] == 1;
}

bool chat_policy_rate(struct chat *c, bool good)
{
    return policy_of(c)->is_open && experience_rate(&policy_of(c)->experience, good);
}

bool chat_policy_undone(struct chat *c)
{
    return policy_of(c)->is_open && experience_undone(&policy_of(c)->experience);
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
    const struct chat_policy *p = policy_of(c);
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

void chat_policy_print(struct chat *c)
{
    const struct experience *e = &policy_of(c)->experience;
    const struct experience_totals *t = &e->totals;
    char text[200], quality[FORMAT_NUMBER_BYTES];
    float mean = t->turns != 0 ? t->quality / (float)t->turns : 0.0f;

    console_printf(c->console,
                   "(%u %s judged, %u good and %u bad, mean quality %s; %u of %u patterns; %u %s, "
                   "%u thrown away)\n",
                   (unsigned)t->turns, plural(t->turns, "turn", "turns"), (unsigned)t->good,
                   (unsigned)t->bad, format_milli(quality, (uint64_t)(mean * 1000.0f), 2),
                   (unsigned)e->patterns.n, (unsigned)PATTERNS_MOST, (unsigned)t->steps,
                   plural(t->steps, "step", "steps"), (unsigned)t->thrown);
    if (policy_of(c)->choice.sure[0] > 0.0f) {
        console_printf(c->console, "(last turn: %s)\n", chat_policy_text(c, text, sizeof text));
    }
}

/* ---- the feature ----------------------------------------------------------------------------- */

static const char *rate(void *state, struct chat *c, enum feature_rating rating)
{
    (void)state;
    return chat_policy_rate(c, rating == FEATURE_GOOD) ? "by the policy" : NULL;
}

static void undo(void *state, struct chat *c)
{
    (void)state;
    (void)chat_policy_undone(c);
}

static void reset(void *state, struct chat *c)
{
    memset(state, 0, sizeof(struct chat_policy));
    features_switch(c->features, FEATURE_policy, false);
}

const struct feature feature_policy = {
    .name = "policy",
    .state_bytes = sizeof(struct chat_policy),
    .saved = &policy_saved,
    .memory = policy_memory,
    .loaded = policy_loaded,
    .reset = reset,
    .cleared = clear,
    .undone = undo,
    .rated = rate,
    .room = room,
    .pass_begins = begin,
    .reply_ends = end,
    .is_quiet = is_quiet,
};
