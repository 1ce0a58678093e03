/* A pass that leaves out tokens which nobody reads: the logits that are read have the same bits,
 * and the rest is not computed, by the count of norms. */
#include "tests/unit/model/hybrid_rig.h"
#include "runtime/session/session_group.h"

enum { N = 40, CHUNK = 24 };

static uint32_t ids[N];
static float expected[1 << 14];
static uint32_t n_norms;
static void (*rmsnorm)(float *, const float *, const float *, size_t, float, float);

static void count_norms(float *y, const float *x, const float *w, size_t n, float eps, float add)
{
    n_norms++;
    rmsnorm(y, x, w, n, eps, add);
}

static void count(void)
{
    rmsnorm = rig.kernels.rmsnorm_f32;
    rig.kernels.rmsnorm_f32 = count_norms;
    n_norms = 0;
}

static void start(uint32_t chunk)
{
    if (rig_start(0, chunk, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

/* Returns the last token's logits when each pass has one token, which leaves nothing out. */
static void expect(void)
{
    start(1);
    rig_ids(ids, N);
    if (session_append(&rig.session, ids, N, NULL) != ERR_OK)
        rig_die(rig.session.error_message);
    memcpy(expected, rig.session.logits, rig_logits_bytes());
}

static bool is_expected(void)
{
    return memcmp(rig.session.logits, expected, rig_logits_bytes()) == 0;
}

/* A layer has two norms; the last layer has one for keys and two for the token that is read; and
 * then there is the last norm. */
static void test_dense(void)
{
    uint32_t layers, most;

    rig_make_model("tiny", INGOT_Q8_0);
    expect();
    layers = rig.model.image.header->params.n_layers;
    start(CHUNK);
    count();
    OK(session_append(&rig.session, ids, N, NULL) == ERR_OK && is_expected(),
       "a prompt of two chunks has the logits of single tokens");
    most = (2 * (layers - 1) + 1) * N + 2 + 1;
    OK(n_norms == most,
       "%u norms are computed, because the last layer needs only keys of %u tokens and one norm "
       "(%u)",
       n_norms, N, most);
    OK(session_append(&rig.session, ids, 9, NULL) == ERR_OK && !rig.model.transformer.is_narrow,
       "nine tokens may begin before a layer is whole, and all are computed");
    OK(session_append(&rig.session, ids, 10, NULL) == ERR_OK && rig.model.transformer.is_narrow,
       "ten tokens may not begin before a layer is whole");
}

static void see(void *context, uint32_t position, const float *logits)
{
    (void)logits;
    *(uint32_t *)context = position;
}

static void test_visited(void)
{
    uint32_t last = 0, layers = rig.model.image.header->params.n_layers;

    start(CHUNK);
    count();
    OK(session_append_visit(&rig.session, ids, N, see, &last) == ERR_OK && last == N - 1 &&
           is_expected(),
       "the last token's logits are the same if those of every token are read");
    OK(n_norms == (2 * layers + 1) * N, "all %u norms are computed", n_norms);
}

/* One pass has parts that are read and parts that are not: the right rows move. */
static void test_parts(void)
{
    struct model *m;
    uint32_t tokens[30];
    float *logits = NULL;
    struct session *s = &rig.session;
    struct transformer_pass pass = { .tokens = tokens, .n = 30, .n_parts = 3, .want_head = true };
    static struct session others[2];
    struct transformer_part parts[3];
    static const uint32_t first[3] = { 0, 8, 20 }, n[3] = { 8, 12, 10 }, skip[3] = { 7, 12, 5 };

    rig.sequences = 3;
    start(0);
    m = &rig.model;
    session_open(&others[0], m, &rig.setup);
    session_open(&others[1], m, &rig.setup);
    for (uint32_t i = 0; i < 3; i++) {
        struct session *of = i == 0 ? s : &others[i - 1];

        memcpy(tokens + first[i], ids, n[i] * sizeof *ids);
        kv_cache_write(&of->kv, 0, n[i]);
        parts[i] = (struct transformer_part){ first[i], n[i], 0, of->states, NULL, false, skip[i] };
    }
    pass.parts = parts;
    OK(transformer_pass(&m->transformer, &pass, NULL) == ERR_OK, "a pass of three sequences runs");
    OK(transformer_logits_at(&m->transformer, (uint32_t[]){ 7, 25, 29 }, 3, &logits) == ERR_OK,
       "the middle one of three sequences is not read");
    for (uint32_t i = 0; i < 3; i++) {
        memcpy(expected + i * m->image.header->params.vocab,
               logits + i * m->transformer.act.logits_stride, rig_logits_bytes());
    }
    rig.sequences = 0;
    start(1);
    for (uint32_t i = 0; i < 10; i++) {
        static const uint32_t row[10] = { 9, 9, 9, 9, 9, 1, 9, 0, 9, 2 };

        if (session_append(&rig.session, ids + i, 1, NULL) != ERR_OK)
            rig_die(rig.session.error_message);
        if (row[i] != 9)
            OK(memcmp(rig.session.logits, expected + row[i] * rig.model.image.header->params.vocab,
                      rig_logits_bytes()) == 0,
               "the logits after %u tokens are those of the sequence alone", i + 1);
    }
}

static void test_hybrid(const struct hybrid *h)
{
    hybrid_make(h, INGOT_Q8_0);
    expect();
    start(CHUNK);
    OK(session_append(&rig.session, ids, N, NULL) == ERR_OK && is_expected(),
       "the logits are right for %s", h->name);
}

int main(void)
{
    rig_alone();
    rig_compute(true);
    test_dense();
    test_visited();
    test_parts();
    for (size_t i = 0; i < N_HYBRIDS; i++)
        test_hybrid(&hybrids[i]);
    test_hybrid(&hybrid_latent);
    return tap_done();
}
