/* Beams that share keys and values against a search that computes every reply from its beginning,
 * with the C library's logarithms. */
#include "runtime/session/beams.h"

#include <math.h>

#include "tests/unit/rig.h"

enum { PROMPT_MOST = 62, MOST = 40, END = 17 };

static struct beams beams;
static uint32_t settled[MOST], n_settled, stop_at;
static bool endless;
static uint32_t n_prompt; /* 62: the beams part where a tile ends */

static bool ends(void *context, uint32_t id)
{
    (void)context;
    return !endless && id % END == 3;
}

static bool take(void *context, const uint32_t *ids, uint32_t n, uint32_t *taken)
{
    (void)context;
    *taken = 0;
    while (*taken < n && n_settled != stop_at) {
        settled[n_settled++] = ids[(*taken)++];
    }
    return n_settled != stop_at;
}

static const struct sampler *sampler; /* NULL: none */

static void prompt(void)
{
    uint32_t ids[PROMPT_MOST];

    rig_ids(ids, PROMPT_MOST);
    session_clear(&rig.session);
    if (session_append(&rig.session, ids, n_prompt, NULL) != ERR_OK)
        rig_die("the prompt");
}

static enum err search(uint32_t n, uint32_t limit, struct beams_result *r)
{
    struct beams_job job = { NULL, ends, take, limit, NULL, sampler };

    prompt();
    n_settled = 0;
    beams.n = n;
    return beams_search(&beams, &rig.session, &job, r);
}

/* ---- the reference -------------------------------------------------------------------------- */

struct reply {
    uint32_t ids[MOST], n;
    double score;
};

static double logits[4096];

/* Applies biases, and then the counts of the reply, by their definitions. */
static void adjust(const struct reply *r)
{
    for (uint32_t i = 0; i < sampler->params.n_biases; i++)
        rig.session.logits[sampler->params.biases[i].id] += sampler->params.biases[i].add;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t before = 0, all = 0;

        for (uint32_t j = 0; j < r->n; j++) {
            before += j < i && r->ids[j] == r->ids[i];
            all += r->ids[j] == r->ids[i];
        }
        if (before == 0)
            rig.session.logits[r->ids[i]] -= (float)all * sampler->params.frequency +
                                             sampler->params.presence;
    }
}

/* Returns ln of each token's probability after the reply. */
static void probabilities(const struct reply *r)
{
    uint32_t vocab = rig.model.image.header->params.vocab;
    double max = -1e300, sum = 0;

    prompt();
    for (uint32_t i = 0; i < r->n; i++)
        if (session_append(&rig.session, r->ids + i, 1, NULL) != ERR_OK)
            rig_die("a token");
    if (sampler != NULL)
        adjust(r);
    for (uint32_t i = 0; i < vocab; i++) {
        logits[i] = (double)rig.session.logits[i];
        max = fmax(max, logits[i]);
    }
    for (uint32_t i = 0; i < vocab; i++)
        sum += exp(logits[i] - max);
    for (uint32_t i = 0; i < vocab; i++)
        logits[i] -= max + log(sum);
}

static int by_score(const void *a, const void *b)
{
    double x = ((const struct reply *)a)->score, y = ((const struct reply *)b)->score;

    return (x < y) - (x > y);
}

static struct reply reference(uint32_t n, uint32_t limit)
{
    static struct reply live[4], all[4 * 4096];
    struct reply best = { .n = 0, .score = -1e300 };
    uint32_t vocab = rig.model.image.header->params.vocab, n_live = 1, ended = 0;

    live[0] = (struct reply){ .n = 0 };
    for (uint32_t length = 0;; length++) {
        uint32_t n_all = 0;

        if (length == limit) {
            double mean = live[0].score / length;

            return ended == 0 || mean > best.score ? live[0] : best;
        }
        for (uint32_t i = 0; i < n_live; i++) {
            probabilities(&live[i]);
            for (uint32_t id = 0; id < vocab; id++) {
                all[n_all] = live[i];
                all[n_all].ids[all[n_all].n++] = id;
                all[n_all++].score += logits[id];
            }
        }
        qsort(all, n_all, sizeof *all, by_score);
        n_live = 0;
        for (uint32_t i = 0; n_live < n; i++) {
            if (!ends(NULL, all[i].ids[length])) {
                live[n_live++] = all[i];
            } else if (i < n && ++ended != 0 && all[i].score / (length + 1) > best.score) {
                best = all[i];
                best.n--;
                best.score = all[i].score / (length + 1);
            }
        }
        if (ended >= n || (ended != 0 && live[0].score / (length + 1) <= best.score))
            return best;
    }
}

/* ---- the tests ------------------------------------------------------------------------------ */

static void open_rig(struct kv_types kv)
{
    struct session_sequence *sequences[BEAMS_MOST];

    rig.kv = kv;
    rig.kept_sequences = BEAMS_MOST;
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    for (uint32_t i = 0; i < BEAMS_MOST; i++)
        sequences[i] = &beams.sequences[i];
    session_sequences_open(&rig.session, sequences, BEAMS_MOST);
}

static void against_reference(uint32_t n, uint32_t limit)
{
    const struct session *s = &rig.session;
    struct kv_pool *pool = s->kv.pool;
    struct beams_result r;
    struct reply want;
    uint32_t got[MOST], n_got, held;
    float after;

    OK(search(n, limit, &r) == ERR_OK, "%u beams for %u tokens find a reply after %u passes", n,
       limit, r.passes);
    n_got = s->n_ids - n_prompt;
    memcpy(got, s->ids + n_prompt, n_got * sizeof *got);
    held = pool->n_slots - pool->n_free;
    OK(n_settled == n_got && memcmp(settled, got, n_got * sizeof *got) == 0,
       "each of the reply's %u tokens is handed on once", n_got);
    OK(held == (s->n_cached + KV_TILE - 1) / KV_TILE,
       "%u places are held by the reply alone after the search", held);
    if (session_append(&rig.session, (const uint32_t[]){ 5 }, 1, NULL) != ERR_OK)
        rig_die("what follows");
    after = rig.session.logits[11];
    want = reference(n, limit);
    OK(want.n == n_got && memcmp(want.ids, got, n_got * sizeof *got) == 0,
       "the search without sharing finds the same reply (%u tokens, score %.4f)", want.n,
       want.score);
    want.ids[want.n++] = 5;
    probabilities(&want);
    OK(memcmp(&after, &rig.session.logits[11], sizeof after) == 0 || sampler != NULL,
       "what follows a search is computed as after the reply alone");
}

static void with_penalties(void)
{
    struct beams_result r;
    struct sampler penalties;
    struct sampler_params p;
    struct sampler_bias bias[2];
    uint32_t before[MOST], n;

    OK(search(3, 12, &r) == ERR_OK, "the search without penalties finds a reply: %u tokens",
       n_settled);
    n = n_settled;
    memcpy(before, settled, sizeof before);
    bias[0] = (struct sampler_bias){ before[0], SAMPLER_BAN };
    bias[1] = (struct sampler_bias){ 12, 1.5f };
    sampler_params_default(&p);
    p.presence = 1.5f;
    p.frequency = 0.5f;
    p.biases = bias;
    p.n_biases = 2;
    sampler_init(&penalties, &p);
    penalties.reply = n_prompt;
    sampler = &penalties;
    against_reference(2, 12);
    against_reference(3, 12);
    OK(n_settled != n || memcmp(before, settled, n * sizeof *before) != 0,
       "penalties change the reply");
    sampler = NULL;
}

static void ends_in_the_middle(void)
{
    struct beams_result r;
    uint32_t all[MOST];

    OK(search(4, 12, &r) == ERR_OK && n_settled > 3, "a search finds a reply of %u tokens",
       n_settled);
    memcpy(all, settled, sizeof all);
    stop_at = 3;
    OK(search(4, 12, &r) == ERR_OK && r.end == BEAMS_CUT && rig.session.n_ids == n_prompt + 3 &&
           memcmp(rig.session.ids + n_prompt, all, 3 * sizeof *all) == 0,
       "a sequence that is cut by its caller ends with what was taken");
    stop_at = MOST;
}

/* A search leaves nothing for a later one. */
static void comes_twice(void)
{
    struct beams_result first, again;
    struct session_hash hash;
    uint32_t all[MOST], n;

    OK(search(4, 12, &first) == ERR_OK, "a search finds a reply of %u tokens", n_settled);
    memcpy(all, settled, sizeof all);
    n = n_settled;
    hash = rig.session.hash;
    (void)search(3, 7, &again);
    (void)search(2, 1, &again);
    OK(search(4, 12, &again) == ERR_OK && n_settled == n && first.end == again.end &&
           first.passes == again.passes && memcmp(all, settled, n * sizeof *all) == 0 &&
           hash.rows == rig.session.hash.rows && hash.value == rig.session.hash.value,
       "the same search after others gives the same reply in the same %u passes", again.passes);
}

static void context_is_full(void)
{
    struct session *s = &rig.session;
    struct beams_job job = { NULL, ends, take, 0, NULL, NULL };
    struct beams_result r;
    uint32_t room, *next;

    prompt();
    next = session_room(s, &room);
    for (uint32_t i = 0; i < room - 2; i++)
        next[i] = 8 + i % 3;
    if (session_append(s, next, room - 2, NULL) != ERR_OK)
        rig_die("a long prompt");
    n_settled = 0;
    beams.n = 4;
    OK(beams_search(&beams, s, &job, &r) == ERR_OK && s->n_ids <= s->context && n_settled <= 2 &&
           (r.end == BEAMS_CONTEXT || r.end == BEAMS_ENDED),
       "the context is full after %u tokens", n_settled);
}

static void logarithm(void)
{
    double worst = 0;

    for (int i = 0; i < 200000; i++) {
        double x = exp((i - 100000) * 1e-4) * (1 + i * 1e-7), want = log(x);

        worst = fmax(worst, fabs(beams_log(x) - want) / fmax(1, fabs(want)));
    }
    OK(worst < 4e-16, "ln is the C library's within %.1e", worst);
    OK(beams_log(1) == 0, "ln 1 is 0");
}

static bool nan_logits(void)
{
    struct beams_job job = { NULL, ends, take, 3, NULL, NULL };
    struct beams_result r;

    prompt();
    beams.n = 2;
    n_settled = 0;
    for (uint32_t i = 0; i < rig.model.image.header->params.vocab; i++)
        rig.session.logits[i] = NAN;
    return beams_search(&beams, &rig.session, &job, &r) == ERR_BAD_MODEL &&
           rig.session.n_ids == n_prompt &&
           strstr(rig.session.error_message, "ingot verify") != NULL;
}

int main(void)
{
    static struct workers crew;

    stop_at = MOST;
    logarithm();
    rig_compute(true);
    workers_start(&crew, rig_platform(), 1);
    rig.workers = &crew;
    rig_make_model("tiny", INGOT_F32);
    open_rig(kv_both(KV_F16));
    n_prompt = 5;
    for (uint32_t n = 2; n <= BEAMS_MOST; n++) {
        against_reference(n, 1);
        against_reference(n, 12);
    }
    with_penalties();
    ends_in_the_middle();
    comes_twice();
    context_is_full();
    OK(nan_logits(), "logits that are not numbers are an error, and the prompt stays");
    n_prompt = PROMPT_MOST;
    open_rig(kv_both(KV_Q8));
    endless = true;
    against_reference(3, 5);
    return tap_done();
}
