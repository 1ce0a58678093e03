/* When experts arrive, by a clock that only computing and the card move: a matrix takes its bytes by the rate of a
 * memory, a request its bytes by the rate of the card, and whoever waits waits for the card's next answer. So the
 * nine rows of make bench-stream-experts are here without a computer's noise, and equal everywhere: the trained
 * mixture gives its usual text, and its time is compared with the missing and the computed experts, and with the
 * plan's prediction. */
#include "tests/unit/rig.h"

enum {
    N_PROMPTS = 4,
    PROMPT_IDS = 64,
    REPLY = 100,             /* tokens that are timed, at most */
    N_LAYERS = 4,            /* of the mixture, all of experts */
    MOST_SLOTS = 16,         /* the experts of a layer */
    WEIGHTS_MB_PER_S = 4000, /* of a Raspberry Pi 4 and the like */
    REQUEST_SECTORS = 32,
    NS_PER_S = 1000000000,
};

static const char *const prompts[N_PROMPTS] = { "Tell me a story about a fox.", "What is 12 + 5?",
                                                "Tell me a story about a king.", "Who are you?" };

/* ---- the clock ----------------------------------------------------------------------------------- */

static struct {
    uint64_t computed;    /* ns, in all */
    uint64_t bytes_per_s; /* of the card */
    uint64_t free_at;     /* the card has no work from then on */
    uint64_t due[FAKE_DEPTH];
} played;

static struct kernels real;

static void compute(uint64_t bytes)
{
    uint64_t ns = bytes * 1000 / WEIGHTS_MB_PER_S;

    rig_time += ns;
    played.computed += ns;
}

static void played_f32(float *restrict y, const void *restrict w, const float *restrict x,
                       size_t rows, size_t cols, size_t ahead)
{
    real.gemv_f32_f32_f32(y, w, x, rows, cols, ahead);
    compute(rows * cols * sizeof(float));
}

static void played_q4(float *restrict y, const void *restrict w, const struct block_q8 *restrict x,
                      size_t rows, size_t cols, size_t ahead)
{
    real.gemv_f32_q4x8_q8(y, w, x, rows, cols, ahead);
    compute(rows * cols / 32 * 18);
}

static enum err played_submit(struct block_device *dev, struct block_request *r)
{
    enum err e = fake_submit(dev, r);

    if (e == ERR_OK) {
        uint64_t begin = played.free_at > rig_time ? played.free_at : rig_time;

        played.free_at = begin +
                         r->n_sectors * (uint64_t)SECTOR_BYTES * NS_PER_S / played.bytes_per_s;
        played.due[rig.fake.n_pending - 1] = played.free_at;
    }
    return e;
}

static enum err played_poll(struct block_device *dev)
{
    enum err e = ERR_OK;

    while (e == ERR_OK && rig.fake.n_pending > 0 && played.due[0] <= rig_time) {
        memmove(played.due, played.due + 1, sizeof played.due - sizeof played.due[0]);
        e = fake_poll(dev);
    }
    return e;
}

/* Nobody computes, so the next event is an answer of the card. */
static void played_yield(void *context)
{
    (void)context;
    if (rig.fake.n_pending > 0 && played.due[0] > rig_time)
        rig_time = played.due[0];
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* Sums over the tokens of all replies, ns. */
struct row {
    uint64_t time, computing, missing; /* missing: bytes / rate */
    uint64_t by_tokens;                /* each token's larger of computing and missing */
    /* Each layer's time for its experts alone: they are named behind the rest, and after a router
     * it takes at least that. */
    uint64_t by_layers;
    uint64_t n;
};

static uint32_t text[N_PROMPTS][PROMPT_IDS + REPLY];
static size_t n_prompt[N_PROMPTS], n_text[N_PROMPTS];
static uint64_t layer_experts; /* ns for a token's experts of a layer */

static void start(size_t limit, uint64_t bytes_per_s)
{
    if (rig_open(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig.fake.dev.submit = played_submit;
    rig.fake.dev.poll = played_poll;
    rig.fake.dev.max_sectors = REQUEST_SECTORS;
    memset(&played, 0, sizeof played);
    played.bytes_per_s = bytes_per_s;
    real = rig.kernels;
    rig.kernels.gemv_f32_f32_f32 = played_f32;
    rig.kernels.gemv_f32_q4x8_q8 = played_q4;
    if (rig_load() != ERR_OK)
        rig_die(rig.model.error_message);
}

static uint32_t likeliest(void)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < rig.model.image.header->params.vocab; i++)
        if (rig.session.logits[i] > rig.session.logits[best])
            best = i;
    return best;
}

/* The model's text with everything in memory: the requests are the same for every cache. */
static void say(unsigned i)
{
    static _Alignas(8) uint8_t scratch[1 << 16];
    char line[256];
    int n = snprintf(line, sizeof line, "<|im_start|>user\n%s<|im_end|>\n<|im_start|>assistant\n",
                     prompts[i]);

    if (tokenizer_encode_template(&rig.model.tokenizer, line, (size_t)n, 0, text[i], PROMPT_IDS,
                                  &n_prompt[i], scratch, sizeof scratch) != ERR_OK)
        rig_die("the prompt");
    n_text[i] = n_prompt[i];
    (void)session_cut(&rig.session, 0);
    if (rig_append(text[i], n_prompt[i], NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    while (n_text[i] < n_prompt[i] + REPLY) {
        uint32_t id = likeliest();

        if (tokenizer_type(&rig.model.tokenizer, id) == INGOT_TOKEN_CONTROL)
            return; /* the reply is whole */
        text[i][n_text[i]++] = id;
        if (rig_append(&id, 1, NULL) != ERR_OK)
            rig_die(rig.session.error_message);
    }
}

/* A Q4_0 matrix has 18 bytes for 32 weights; the extent of an expert has them alone, to the end of its sector. */
static uint64_t experts_ns(void)
{
    const struct ingot_layer *l = image_layer(&rig.model.image, 0);
    uint64_t weights = 3ull * rig.model.image.header->params.dim * l->expert_hidden;

    return l->n_experts_used * weights / 32 * 18 * 1000 / WEIGHTS_MB_PER_S;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_token(struct row *row, uint32_t id)
{
    const struct stream_experts *x = &rig.model.stream.experts;
    uint64_t time = rig_time, computing = played.computed, missing = 0, read[N_LAYERS];

    for (unsigned i = 0; i < N_LAYERS; i++)
        read[i] = x->figures[i].read;
    if (rig_append(&id, 1, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    computing = played.computed - computing;
    for (unsigned i = 0; i < N_LAYERS; i++) {
        uint64_t bytes = (x->figures[i].read - read[i]) *
                         image_layer(&rig.model.image, i)->expert_bytes;
        uint64_t ns = bytes * NS_PER_S / played.bytes_per_s;

        row->by_layers += larger(ns, layer_experts) - layer_experts;
        missing += ns;
    }
    row->by_layers += computing;
    row->by_tokens += larger(missing, computing);
    row->time += rig_time - time;
    row->computing += computing;
    row->missing += missing;
    row->n++;
}

/* Runs the text once, with its prompts in chunks. */
static void play_once(struct row *row)
{
    for (unsigned i = 0; i < N_PROMPTS; i++) {
        (void)session_cut(&rig.session, 0);
        if (rig_append(text[i], n_prompt[i], NULL) != ERR_OK)
            rig_die(rig.session.error_message);
        for (size_t j = n_prompt[i]; j < n_text[i]; j++)
            add_token(row, text[i][j]);
    }
}

/* Runs it once more, with a cache that knows its use. */
static struct row play(size_t limit, uint64_t mb_per_s)
{
    struct row row = { 0 }, before = { 0 };

    start(limit, mb_per_s * 1000000);
    play_once(&before);
    for (uint32_t i = 0; i < rig.model.plan.experts.n; i++)
        rig.model.stream.experts.all[i].found = 0;
    play_once(&row);
    return row;
}

static unsigned percent(uint64_t a, uint64_t b)
{
    return (unsigned)((a * 100 + b / 2) / b);
}

static void read_mixture(void)
{
    FILE *in = fopen("models/mixture-q4_0.ingot", "rb");

    if (in == NULL)
        rig_die("models/mixture-q4_0.ingot: not here");
    rig.packed = aligned_alloc(4096, RIG_MOST_BYTES);
    rig.reads = calloc(RIG_MOST_BYTES / SECTOR_BYTES, sizeof *rig.reads);
    rig.packed_bytes = fread(rig.packed, 1, RIG_MOST_BYTES, in);
    fclose(in);
}

static uint32_t slots(void)
{
    return plan_experts_slots(&rig.model.image, 0, rig.model.plan.experts.n_slots);
}

/* The plan's time of a token, ns, by these rates and by what was counted in the row. */
static uint64_t predicted(uint64_t bytes_per_s)
{
    static struct plan_use use;
    struct plan plan = rig.model.plan;

    memset(&use, 0, sizeof use);
    for (uint32_t i = 0; i < plan.experts.n; i++) {
        uint32_t found = rig.model.stream.experts.all[i].found;

        use.found[i % MOST_SLOTS] += found;
        use.total += found;
    }
    plan.experts.use = &use;
    plan.rates = (struct plan_rates){ .card = bytes_per_s, .cores = 1 };
    for (unsigned i = 0; i < INGOT_N_TYPES; i++)
        plan.rates.decode[i] = 1000000 / WEIGHTS_MB_PER_S;
    plan_predict(&plan, &rig.model.image);
    return plan.prediction.decode_ns;
}

/* The most time of a row, in percent of the larger of its means, and of each token's larger. The first is
 * more than 115 where about as much is read as computed, and where few tokens read: an expert is known only once its
 * layer has been computed up to the router, and it hides neither that nor the next token (docs/experiments/experts-in-a-cache.md). */
static const struct {
    uint32_t slots, mb_per_s;
    unsigned of_means, of_tokens;
} rows[] = {
    { 4, 20, 103, 103 },  { 4, 80, 107, 107 },  { 4, 800, 165, 149 },
    { 8, 20, 105, 104 },  { 8, 80, 118, 114 },  { 8, 800, 138, 136 },
    { 12, 20, 117, 106 }, { 12, 80, 165, 115 }, { 12, 800, 112, 112 },
};

enum { N_ROWS = sizeof rows / sizeof rows[0], MOST_OF_LAYERS = 104, FORETOLD_WITHIN = 4 };

static void test_row(unsigned i, size_t limit)
{
    struct row r = play(limit, rows[i].mb_per_s);
    uint64_t told = predicted(played.bytes_per_s);
    unsigned of_told = percent(r.time / r.n, told);
    unsigned of_means = percent(r.time, larger(r.missing, r.computing));
    unsigned of_tokens = percent(r.time, r.by_tokens), of_layers = percent(r.time, r.by_layers);

    OK(r.n > 100 && of_layers >= 100 && of_layers <= MOST_OF_LAYERS &&
           of_tokens <= rows[i].of_tokens && of_means <= rows[i].of_means,
       "%u slots, %u MB/s: a token takes %u us, %u missing, %u computing: %u %% of the larger, %u "
       "%% of each token's, %u %% of each layer's",
       (unsigned)rows[i].slots, (unsigned)rows[i].mb_per_s, (unsigned)(r.time / r.n / 1000),
       (unsigned)(r.missing / r.n / 1000), (unsigned)(r.computing / r.n / 1000), of_means,
       of_tokens, of_layers);
    OK(of_told + FORETOLD_WITHIN >= 100 && of_told <= 100 + FORETOLD_WITHIN,
       "a token is predicted to take %u us, and takes %u %% of that", (unsigned)(told / 1000),
       of_told);
}

static void find_limits(size_t limits[MOST_SLOTS + 1])
{
    for (size_t limit = 512 << 10; limit < rig.packed_bytes; limit += 16 << 10)
        if (rig_open(limit, 0, false) == ERR_OK && slots() <= MOST_SLOTS && limits[slots()] == 0)
            limits[slots()] = limit;
}

int main(void)
{
    static struct platform platform;
    static struct workers workers;
    static size_t limits[MOST_SLOTS + 1];

    platform = *rig_platform();
    platform.cores.yield = played_yield;
    workers_start(&workers, &platform, 1);
    rig.workers = &workers;
    rig_compute(false);
    read_mixture();
    find_limits(limits);
    start(0, NS_PER_S);
    for (unsigned i = 0; i < N_PROMPTS; i++)
        say(i);
    layer_experts = experts_ns();
    for (unsigned i = 0; i < N_ROWS; i++)
        test_row(i, limits[rows[i].slots]);
    return tap_done();
}
