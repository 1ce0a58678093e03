/* Replies side by side: ids, text, thoughts, ends and counts equal those of generate() with each
 * prompt alone, whichever others run beside it, and a free slot takes the next one. */
#include "runtime/session/replies.h"

#include "flash_image/grammar/grammar_compile.h"
#include "runtime/features/grammar/grammar_constraint.h"
#include "tests/unit/rig.h"

enum { N_REPLIES = 11, SLOTS = 4, MOST_NEW = 600, MOST_PROMPT = 40 };

/* A request, and its result. */
struct said {
    char text[4 * MOST_NEW];
    size_t bytes;
    unsigned n_begins, n_tokens, n_thoughts;
    uint32_t ids[MOST_NEW];
    struct generate_result result;
    uint64_t hash;
};

static struct request_of {
    uint32_t prompt[MOST_PROMPT], n_prompt;
    struct generate_params params;
    struct sampler_params sampler;
    char stop[8];
    uint32_t end_id;
} requests[N_REPLIES];

static struct said alone[N_REPLIES], parallel[N_REPLIES];
static struct session sessions[SLOTS];
static struct replies replies;

static void said_begin(void *context)
{
    ((struct said *)context)->n_begins++;
}

static void said_token(void *context, uint32_t id)
{
    ((struct said *)context)->n_tokens += id != INGOT_NO_TOKEN;
}

static void said_text(void *context, const char *text, size_t bytes)
{
    struct said *s = context;

    if (s->bytes + bytes > sizeof s->text)
        rig_die("a text is too long");
    memcpy(s->text + s->bytes, text, bytes);
    s->bytes += bytes;
}

static void said_think(void *context, bool begins)
{
    ((struct said *)context)->n_thoughts += begins ? 1 : 100;
}

static struct generate_sink sink_of(struct said *s)
{
    return (struct generate_sink){ .context = s,
                                   .begin = said_begin,
                                   .token_begin = said_token,
                                   .text = said_text,
                                   .think = said_think };
}

/* Words and numbers in turn. */
static struct grammar_constraint constraint;

static void make_constraint(void)
{
    static const char gbnf[] = "root ::= ([a-z]+ [0-9]+ \".\")*";
    const struct tokenizer *t = &rig.model.tokenizer;
    char error_message[GRAMMAR_ERROR_MESSAGE_BYTES];
    const char *why = "";
    void *grammar;
    size_t bytes;

    grammar_constraint_open(&constraint,
                            aligned_alloc(64, (grammar_constraint_bytes(t->head->n_tokens) + 63) /
                                                  64 * 64),
                            t, t->head->n_tokens);
    if (grammar_compile_gbnf(gbnf, &grammar, &bytes, error_message) != ERR_OK)
        rig_die(error_message);
    memcpy(grammar_constraint_memory(&constraint), grammar, bytes);
    free(grammar);
    if (grammar_constraint_use(&constraint, bytes, &why) != ERR_OK)
        rig_die(why);
}

static const struct sampler_bias biases[] = { { 40, 3.0f }, { 41, SAMPLER_BAN } };

static void make_requests(void)
{
    uint32_t ids[N_REPLIES * MOST_PROMPT];

    rig_ids(ids, N_REPLIES * MOST_PROMPT);
    for (uint32_t i = 0; i < N_REPLIES; i++) {
        struct request_of *q = &requests[i];

        memset(q, 0, sizeof *q);
        q->n_prompt = i == 4 ? 1 : 2 + 3 * i;
        memcpy(q->prompt, ids + i * MOST_PROMPT, sizeof q->prompt);
        q->params.limit = 5 + 4 * i;
        sampler_params_default(&q->sampler);
        q->sampler.temp = i % 2 == 0 ? 0.0f : 0.9f;
        q->sampler.seed = i;
        if (i % 3 == 1) {
            q->sampler.presence = 0.8f;
            q->sampler.frequency = 0.4f;
            q->sampler.biases = biases;
            q->sampler.n_biases = 2;
        }
    }
    requests[2].params.inside_thoughts = true;
    requests[5].params.limit = 0; /* until it is full, or repeats itself */
    requests[6].params.limit = 100000;
    requests[7].params.constraint = &constraint.base;
}

static void keep(struct said *to, const struct generate_result *r, const struct session *s)
{
    to->result = *r;
    to->hash = s->hash.value;
    if (r->new_tokens > MOST_NEW)
        rig_die("a reply is too long");
    memcpy(to->ids, s->ids + r->first_new, r->new_tokens * sizeof *to->ids);
}

static void run_alone(uint32_t i)
{
    static struct speculative speculative;
    const struct speculative_params guessing = { SPECULATIVE_OFF, false };
    struct request_of *q = &requests[i];
    struct generate_sink sink = sink_of(&alone[i]);
    struct sampler sampler;
    struct generator g = { &rig.session, &speculative, &sampler, NULL };
    struct generate_result r;

    memset(&alone[i], 0, sizeof alone[i]);
    session_clear(&rig.session);
    speculative_open(&speculative, &rig.session, NULL, &guessing);
    sampler_init(&sampler, &q->sampler);
    if (session_put(&rig.session, q->prompt, q->n_prompt) != ERR_OK ||
        generate(&g, &q->params, &sink, &r) != ERR_OK)
        rig_die(rig.session.error_message);
    keep(&alone[i], &r, &rig.session);
}

/* Three letters that no border of characters parts. */
static bool is_plain(const char *text)
{
    return text[0] > ' ' && text[1] > ' ' && text[2] > ' ';
}

/* A stop string and a token that end a reply, and that occur in it. */
static void make_ends(void)
{
    struct request_of *stops = &requests[8], *ends = &requests[10];

    uint32_t at = 0;

    while (at + 3 < alone[8].bytes / 2 || !is_plain(alone[8].text + at))
        at++;
    memcpy(stops->stop, alone[8].text + at, 3);
    stops->params.stops = (struct reply_stops){ { stops->stop }, 1 };
    ends->end_id = alone[10].ids[alone[10].result.new_tokens - 2];
    ends->params.end_ids = &ends->end_id;
    ends->params.n_end_ids = 1;
    run_alone(8);
    run_alone(10);
}

static void open_slots(size_t limit, uint32_t chunk, uint32_t n)
{
    rig.sequences = n;
    if (rig_open(limit, chunk, false) != ERR_OK || model_load(&rig.model, &rig.setup) != ERR_OK)
        rig_die(rig.model.error_message);
    memset(&replies, 0, sizeof replies);
    replies.n = n;
    for (uint32_t i = 0; i < n; i++) {
        session_open(&sessions[i], &rig.model, &rig.setup);
        replies.slots[i].session = &sessions[i];
    }
}

static void begin(uint32_t slot, uint32_t which, struct generate_sink *sink)
{
    struct request_of *q = &requests[which];
    struct session *s = replies.slots[slot].session;

    memset(&parallel[which], 0, sizeof parallel[which]);
    *sink = sink_of(&parallel[which]);
    session_clear(s);
    if (session_put(s, q->prompt, q->n_prompt) != ERR_OK)
        rig_die(s->error_message);
    replies_begin(&replies, slot, &q->params, &q->sampler, sink);
}

/* All of them, in their order, as slots become free. */
static void run_all(size_t limit, uint32_t chunk, uint32_t n)
{
    struct generate_sink sinks[SLOTS];
    uint32_t at[SLOTS], next = 0;
    bool taken[SLOTS] = { false };

    open_slots(limit, chunk, n);
    for (;;) {
        for (uint32_t i = 0; i < n; i++) {
            if (taken[i] && !replies.slots[i].busy) {
                keep(&parallel[at[i]], &replies.slots[i].result, &sessions[i]);
                taken[i] = false;
            }
            if (!taken[i] && next < N_REPLIES) {
                at[i] = next++;
                taken[i] = true;
                begin(i, at[i], &sinks[i]);
            }
        }
        if (replies_busy(&replies) == 0)
            return;
        if (replies_pass(&replies, NULL) != ERR_OK)
            rig_die(replies.error_message);
    }
}

static bool same(uint32_t i)
{
    const struct said *a = &alone[i], *b = &parallel[i];
    const struct generate_result *ra = &a->result, *rb = &b->result;

    return ra->end == rb->end && ra->new_tokens == rb->new_tokens &&
           ra->first_new == rb->first_new && ra->prompt_tokens == rb->prompt_tokens &&
           ra->passes == rb->passes && ra->text_bytes == rb->text_bytes && ra->shown == rb->shown &&
           a->hash == b->hash && memcmp(a->ids, b->ids, ra->new_tokens * sizeof *a->ids) == 0 &&
           a->n_begins == 1 && b->n_begins == 1 && a->n_tokens == b->n_tokens &&
           a->n_thoughts == b->n_thoughts && a->bytes == b->bytes &&
           memcmp(a->text, b->text, a->bytes) == 0;
}

static unsigned n_same(void)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < N_REPLIES; i++)
        n += same(i);
    return n;
}

static void test_same(size_t limit, uint32_t chunk, uint32_t n, const char *how)
{
    run_all(limit, chunk, n);
    OK(n_same() == N_REPLIES, "%u slots, chunk %u, %s: %u of %d replies are the same as alone",
       (unsigned)n, (unsigned)chunk, how, n_same(), N_REPLIES);
}

static void test_ends(void)
{
    OK(alone[8].result.end == GENERATE_STOP && alone[10].result.end == GENERATE_ENDED &&
           alone[6].result.end == GENERATE_CONTEXT &&
           (alone[5].result.end == GENERATE_REPETITION ||
            alone[5].result.end == GENERATE_CONTEXT) &&
           alone[0].result.end == GENERATE_LIMIT && alone[2].n_thoughts == 101,
       "replies end by stop (%d), token (%d), context (%d), repetition (%d) and limit, one in "
       "thoughts (%u)",
       alone[8].result.end, alone[10].result.end, alone[6].result.end, alone[5].result.end,
       alone[2].n_thoughts);
    OK(alone[7].result.refused != 0 && parallel[7].result.refused == alone[7].result.refused &&
           alone[7].text[0] >= 'a' && alone[7].text[0] <= 'z',
       "a constraint holds: %u tokens refused, %.20s", alone[7].result.refused, alone[7].text);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void test_stopped(void)
{
    const struct stop stop = { at_once, NULL };
    struct generate_sink sinks[2];
    unsigned n = 0;

    open_slots(0, 16, 2);
    begin(0, 0, &sinks[0]);
    begin(1, 9, &sinks[1]);
    OK(replies_pass(&replies, &stop) == ERR_ABORTED && replies_busy(&replies) == 2 &&
           parallel[0].n_begins == 0,
       "a pass that is stopped leaves both replies where they were");
    while (replies.slots[0].busy && replies_pass(&replies, NULL) == ERR_OK)
        n++;
    keep(&parallel[0], &replies.slots[0].result, &sessions[0]);
    OK(same(0) && n > 1, "both replies go on after a stop");
    replies_leave(&replies, 1);
    OK(replies_busy(&replies) == 0 && parallel[9].bytes != 0,
       "a reply that the caller leaves is over");
    replies_leave(&replies, 1);
    OK(replies_busy(&replies) == 0, "leaving a reply twice does no harm");
}

/* Every second pass leaves one of them out. */
static void test_waits(void)
{
    struct generate_sink sinks[2];
    unsigned left_out = 0, moved = 0;

    open_slots(0, 16, 2);
    begin(0, 3, &sinks[0]);
    begin(1, 9, &sinks[1]);
    for (unsigned n = 0; replies_busy(&replies) != 0; n++) {
        uint32_t before = sessions[1].n_ids;

        replies.slots[1].waits = n % 2 == 0 && replies.slots[0].busy;
        if (replies_pass(&replies, NULL) != ERR_OK)
            rig_die(replies.error_message);
        left_out += replies.slots[1].waits;
        moved += replies.slots[1].waits && sessions[1].n_ids != before;
        replies.slots[1].waits = false;
    }
    keep(&parallel[3], &replies.slots[0].result, &sessions[0]);
    keep(&parallel[9], &replies.slots[1].result, &sessions[1]);
    OK(left_out > 3 && moved == 0 && same(3) && same(9),
       "a reply that waits is left out of %u passes, and both are as alone", left_out);
}

/* A second turn in the same slot, after the first. */
static void test_goes_on(void)
{
    struct generate_sink sinks[2];
    uint32_t n;

    open_slots(0, 16, 2);
    begin(0, 3, &sinks[0]);
    begin(1, 1, &sinks[1]);
    while (replies_busy(&replies) != 0)
        (void)replies_pass(&replies, NULL);
    n = sessions[0].n_ids;
    (void)session_put(&sessions[0], requests[1].prompt, requests[1].n_prompt);
    replies_begin(&replies, 0, &requests[1].params, &requests[1].sampler, &sinks[0]);
    while (replies_busy(&replies) != 0)
        (void)replies_pass(&replies, NULL);
    OK(replies.slots[0].result.first_new == n + requests[1].n_prompt &&
           replies.slots[0].result.prompt_tokens == requests[1].n_prompt + 1,
       "a sequence goes on with another turn, and the token that was pending");
}

int main(void)
{
    size_t least;

    rig.kv = kv_both(KV_F16);
    rig_compute(false);
    rig_alone();
    rig_make_model("tiny", INGOT_Q8_0);
    rig.sequences = 0;
    if (rig_start(0, 32, false) != ERR_OK)
        rig_die(rig.model.error_message);
    make_requests();
    make_constraint();
    for (uint32_t i = 0; i < N_REPLIES; i++)
        run_alone(i);
    make_ends();
    test_same(0, 32, 1, "in memory");
    test_same(0, 8, 3, "in memory");
    test_same(0, 64, SLOTS, "in memory");
    test_ends();
    rig.sequences = SLOTS;
    least = rig_limits().least;
    test_same(least, 16, SLOTS, "streamed");
    test_stopped();
    test_waits();
    test_goes_on();
    return tap_done();
}
