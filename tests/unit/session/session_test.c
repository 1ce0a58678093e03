/* A session over a model, end to end: one result for every chunk, core count and residency, and a
 * cache that stays right through a full context, a stop and an error. */
#include "runtime/session/session.h"

#include <math.h>

#include "runtime/base/crc32c.h"
#include "tests/unit/rig.h"

enum { CONTEXT = 256, MOST_VOCAB = 640, PROMPT = 70, N_MORE = 3 };

static uint32_t ids[CONTEXT];
static float expected[N_MORE + 1][MOST_VOCAB]; /* after the prompt, and after each token more */
static struct workers crews[3];                /* 1, 2 and 4 cores; workers live on */

static bool logits_are(const float *row)
{
    return rig.session.logits != NULL && memcmp(rig.session.logits, row, rig_logits_bytes()) == 0;
}

static enum err append(uint32_t from, uint32_t to)
{
    return rig_append(ids + from, to - from, NULL);
}

/* The rows after n tokens and the next ones, which one core computes token by token. */
static void set_expected(uint32_t n)
{
    rig.workers = &crews[0];
    if (rig_start(0, 1, false) != ERR_OK || append(0, n) != ERR_OK)
        rig_die(rig.model.error_message);
    memcpy(expected[0], rig.session.logits, rig_logits_bytes());
    for (uint32_t i = 0; i < N_MORE && n + i < CONTEXT; i++) {
        if (append(n + i, n + i + 1) != ERR_OK)
            rig_die(rig.model.error_message);
        memcpy(expected[i + 1], rig.session.logits, rig_logits_bytes());
    }
}

static bool agrees(size_t limit, uint32_t chunk, bool in_place)
{
    bool good = rig_start(limit, chunk, in_place) == ERR_OK && append(0, PROMPT) == ERR_OK &&
                logits_are(expected[0]);

    for (uint32_t i = 0; i < N_MORE && good; i++) {
        good = append(PROMPT + i, PROMPT + i + 1) == ERR_OK && logits_are(expected[i + 1]);
    }
    return good && rig.session.n_cached == PROMPT + N_MORE &&
           memcmp(rig.session.ids, ids, (PROMPT + N_MORE) * sizeof *ids) == 0;
}

static void test_one_result(struct rig_limits l)
{
    static const uint32_t chunks[] = { 1, 2, 3, 7, 32, 1000 };
    const struct {
        const char *name;
        size_t limit;
        bool in_place;
    } forms[] = {
        { "resident", 0, false },
        { "in place", 0, true },
        { "two slots", l.least, false },
        { "head pinned", l.untiled, false },
        { "a sector short", l.all - SECTOR_BYTES, false },
    };

    for (int t = 0; t < 3; t++) {
        rig.workers = &crews[t];
        for (size_t f = 0; f < 5; f++) {
            /* Several cores try half of the sizes each: more cores than processors are slow. */
            size_t step = t == 0 ? 1 : 2;
            unsigned good = 0;

            for (size_t c = t == 2; c < 6; c += step)
                good += agrees(forms[f].limit, chunks[c], forms[f].in_place);
            OK(good == 6 / step, "%u core%s, %s: %u chunk sizes give the same logits", 1u << t,
               t == 0 ? "" : "s", forms[f].name, good);
        }
    }
}

static void test_full_context(struct rig_limits l)
{
    struct session *s = &rig.session;
    uint64_t hash;

    set_expected(CONTEXT);
    for (int t = 1; t < 3; t++) {
        rig.workers = &crews[t];
        rig_start(t == 1 ? l.least : 0, 31, false);
        OK(append(0, CONTEXT) == ERR_OK && logits_are(expected[0]),
           "a prompt as long as the context is computed by %u cores", 1u << t);
    }
    hash = s->hash.value;
    OK(append(0, 1) == ERR_TOO_LONG && s->n_cached == CONTEXT && logits_are(expected[0]) &&
           s->hash.value == hash && memcmp(s->ids, ids, sizeof ids) == 0,
       "a token beyond the context is refused, and changes nothing: %s", s->error_message);
    session_clear(s);
    OK(append(0, 0) == ERR_BAD_ARGUMENT && s->logits == NULL && s->n_cached == 0,
       "a prompt of no tokens is refused: %s", s->error_message);
    OK(append(0, 200) == ERR_OK && append(100, 157) == ERR_TOO_LONG && s->n_cached == 200,
       "a prompt that does not fit any more is refused: %s", s->error_message);
    OK(append(200, CONTEXT) == ERR_OK && logits_are(expected[0]), "a text that fits still fits");
}

/* ---- stops --------------------------------------------------------------------------------- */

static int calls_left;
static bool stop(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

/* Stops at every place where a stop is possible: whole chunks stay, and continuing from there gives
 * the undisturbed result. */
static void test_stop(size_t limit, const char *form)
{
    struct session *s = &rig.session;
    bool whole = true, equal = true;
    int k, n_stops = 0;

    set_expected(PROMPT);
    rig.workers = &crews[1];
    rig_start(limit, 32, false);
    for (k = 0;; k++) {
        enum err error;

        session_clear(s);
        calls_left = k;
        error = rig_append(ids, PROMPT, &(struct stop){ stop, NULL });
        if (error == ERR_OK)
            break;
        n_stops++;
        whole = whole && error == ERR_ABORTED && s->logits == NULL && s->n_cached % 32 == 0 &&
                s->n_cached == (uint32_t)k / s->model->image.header->params.n_layers * 32;
        equal = equal && append(s->n_cached, PROMPT) == ERR_OK && logits_are(expected[0]);
        calls_left = k % 5; /* and inside a token after it */
        if (rig_append(ids + PROMPT, 1, &(struct stop){ stop, NULL }) == ERR_ABORTED) {
            whole = whole && s->n_cached == PROMPT;
            equal = equal && append(PROMPT, PROMPT + 1) == ERR_OK;
        }
        equal = equal && logits_are(expected[1]);
    }
    OK(n_stops == 3 * (int)s->model->image.header->params.n_layers && whole,
       "%s: a pass that stops at each of %d layers leaves whole chunks", form, n_stops);
    OK(equal, "%s: going on after a stop gives the same logits", form);
}

/* ---- every position ------------------------------------------------------------------------ */

struct visit {
    uint32_t next;
    bool equal;
    float rows[40][MOST_VOCAB];
};

static void compare_row(void *context, uint32_t position, const float *logits)
{
    struct visit *v = context;

    v->equal = v->equal && position == v->next++ &&
               memcmp(v->rows[position], logits, rig_logits_bytes()) == 0;
}

static void test_visit(struct rig_limits l)
{
    static struct visit v;
    const size_t limits[] = { 0, l.least, l.untiled };
    uint64_t hash;

    rig.workers = &crews[0];
    rig_start(0, 1, false);
    for (uint32_t i = 0; i < 40; i++) {
        append(i, i + 1);
        memcpy(v.rows[i], rig.session.logits, rig_logits_bytes());
    }
    hash = rig.session.hash.value;
    OK(rig.session.hash.rows == SESSION_HASHED_ROWS, "32 rows enter the hash");
    for (int i = 0; i < 3; i++) {
        v.next = 0;
        v.equal = true;
        rig_start(limits[i], 7, false);
        OK(session_append_visit(&rig.session, ids, 40, compare_row, &v) == ERR_OK && v.next == 40 &&
               v.equal && rig.session.hash.value == hash && rig.session.n_cached == 40,
           "the logits of every position are read with mem=%d, and enter the hash", (int)limits[i]);
    }
    OK(session_append_visit(&rig.session, ids, 217, compare_row, &v) == ERR_TOO_LONG &&
           v.next == 40,
       "a prompt that does not fit is refused: %s", rig.model.error_message);
}

/* ---- a model whose matrices differ in type -------------------------------------------------- */

static void place_segment(struct ingot_segment *x, const uint8_t *out, uint64_t at, uint64_t end)
{
    x->offset = at;
    x->bytes = (end - at + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
    x->phase_end[INGOT_PHASES - 1] = x->bytes;
    for (unsigned i = 0; i < INGOT_PHASES && x->kind != INGOT_SEGMENT_LAYER; i++)
        x->phase_end[i] = x->bytes;
    x->crc32c = crc32c(0, out + at, (size_t)x->bytes);
}

/* Model a with the matrices of a role taken from b if bit `role` of roles is set. Both have the
 * same tables except types and places. */
static uint8_t *mix(const uint8_t *a, const uint8_t *b, uint64_t roles, size_t *bytes)
{
    const struct ingot_header *ha = (const void *)a, *hb = (const void *)b;
    uint8_t *out = aligned_alloc(4096, RIG_MOST_BYTES);
    struct ingot_header *h = (void *)out;
    struct ingot_segment *x;
    struct ingot_tensor *t;
    uint64_t at = ((const struct ingot_segment *)(const void *)(a + ha->segments.offset))->offset;

    if (out == NULL)
        rig_die("no memory");
    memset(out, 0, RIG_MOST_BYTES);
    memcpy(out, a, (size_t)at);
    x = (void *)(out + h->segments.offset);
    t = (void *)(out + h->tensors.offset);
    for (uint32_t e = 0, i = 0; e < h->segments.count; e++) {
        uint64_t end = at;
        unsigned phase = 0;

        for (; i < h->tensors.count && (t[i].segment == e || t[i].segment == 0); i++) {
            const uint8_t *from = (roles >> t[i].role & 1) != 0 ? b : a;
            const struct ingot_header *hf = from == a ? ha : hb;
            const struct ingot_tensor *source =
                (const struct ingot_tensor *)(const void *)(from + hf->tensors.offset) + i;
            const struct ingot_segment *old =
                (const struct ingot_segment *)(const void *)(from + hf->segments.offset) +
                source->segment;

            t[i] = *source;
            if (t[i].role == INGOT_OUTPUT && h->params.tied)
                continue;
            end = (end + INGOT_TENSOR_ALIGN - 1) / INGOT_TENSOR_ALIGN * INGOT_TENSOR_ALIGN;
            t[i].offset = end - at;
            if (t[i].role == INGOT_ATTN_OUT || t[i].role == INGOT_FFN_NORM ||
                t[i].role == INGOT_FFN_DOWN)
                x[e].phase_end[phase++] = t[i].offset;
            memcpy(out + end, from + old->offset + source->offset, (size_t)source->bytes);
            end += source->bytes;
        }
        place_segment(&x[e], out, at, end);
        at = x[e].offset + x[e].bytes;
    }
    h->file_bytes = at;
    h->tensors.crc32c = crc32c(0, t, (size_t)h->tensors.bytes);
    h->segments.crc32c = crc32c(0, x, (size_t)h->segments.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
    *bytes = (size_t)at;
    return out;
}

/* Returns the largest difference of two rows, as a part of the largest logit. */
static double distance(const float *a, const float *b, uint32_t n)
{
    double largest = 0, worst = 0;

    for (uint32_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs((double)a[i]));
        worst = fmax(worst, fabs((double)a[i] - (double)b[i]));
    }
    return worst / largest;
}

static void test_mixed_types(void)
{
    static const uint64_t mixtures[] = {
        UINT64_C(1) << INGOT_ATTN_K |
            UINT64_C(1) << INGOT_FFN_UP, /* behind an F32 matrix with the same input */
        UINT64_C(1) << INGOT_ATTN_V | UINT64_C(1) << INGOT_FFN_DOWN | UINT64_C(1) << INGOT_OUTPUT,
        UINT64_C(1) << INGOT_ATTN_Q | UINT64_C(1) << INGOT_FFN_GATE |
            UINT64_C(1) << INGOT_TOKEN_EMBEDDING,
        UINT64_C(1) << INGOT_ATTN_OUT,
    };
    uint8_t *a, *b;

    rig.workers = &crews[0];
    rig_make_model("untied", INGOT_Q8_0);
    b = rig.packed;
    rig.packed = NULL;
    rig_make_model("untied", INGOT_F32);
    a = rig.packed;
    set_expected(PROMPT);
    for (size_t i = 0; i < 4; i++) {
        double d;

        rig.packed = mix(a, b, mixtures[i], &rig.packed_bytes);
        if (!OK(rig_start(0, 32, false) == ERR_OK && append(0, PROMPT) == ERR_OK,
                "a model of two types runs: %s", rig.model.error_message))
            continue;
        d = distance(rig.session.logits, expected[0], rig.model.image.header->params.vocab);
        OK(d > 0 && d < 0.05, "the logits of that model are those of F32 but for %d/1000",
           (int)(1000 * d));
        free(rig.packed);
    }
    rig.packed = NULL;
    free(a);
    free(b);
}

/* ---- memory and opening -------------------------------------------------------------------- */

/* If the plan says that it fits, it fits; otherwise arena_take asserts. */
static void test_memory(void)
{
    size_t least = 0;
    unsigned loaded = 0, refused = 0;
    bool monotone = true;

    set_expected(PROMPT);
    rig.workers = &crews[0];
    for (size_t bytes = 0; bytes < 2 << 20; bytes += 3 * 4096 + 512) {
        enum err e;

        rig_open(0, 0, false);
        rig.setup.ram.base = rig.ram + 48; /* any alignment */
        rig.setup.ram.bytes = bytes;
        rig.setup.limits.context = 16;
        e = model_open(&rig.model, &rig.setup);
        if (e != ERR_OK) {
            refused++;
            monotone = monotone && e == ERR_NO_SPACE && least == 0;
            continue;
        }
        least = least == 0 ? bytes : least;
        e = rig_load();
        loaded += e == ERR_OK && append(0, 5) == ERR_OK;
    }
    OK(monotone && refused > 10 && loaded > 50,
       "%u sizes of RAM are refused, and from %d KiB on %u run", refused, (int)(least / 1024),
       loaded);
}

/* A head with data behind its matrix: the last tile would not fit into its slot. */
static void test_long_head(void)
{
    struct ingot_header *h = (void *)rig.packed;
    struct ingot_segment *x = (struct ingot_segment *)(void *)(rig.packed + h->segments.offset) +
                              h->params.n_layers + 1;

    memset(rig.packed + rig.packed_bytes, 0, 1 << 20);
    rig.packed_bytes += 1 << 20;
    x->bytes += 1 << 20;
    place_segment(x, rig.packed, x->offset, x->offset + x->bytes);
    h->file_bytes = rig.packed_bytes;
    h->segments.crc32c = crc32c(0, rig.packed + h->segments.offset, (size_t)h->segments.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
    OK(rig_open(0, 0, false) == ERR_BAD_HEADER && strstr(rig.model.error_message, "head: bytes is"),
       "a segment of a wrong size is refused: %s", rig.model.error_message);
}

static void test_open(void)
{
    uint8_t kept = rig.packed[3];

    rig.packed[3] ^= 1;
    OK(rig_open(0, 0, false) == ERR_BAD_MAGIC &&
           strncmp(rig.model.error_message, "models/made-up.ingot: ", 22) == 0,
       "a file with a wrong magic is refused: %s", rig.model.error_message);
    rig.packed[3] = kept;
    rig_open(0, 0, false);
    rig.file.bytes = 4000;
    OK(model_open(&rig.model, &rig.setup) == ERR_TRUNCATED &&
           strstr(rig.model.error_message, "4000 bytes, less than a header") != NULL &&
           strstr(rig.model.error_message, "`ingot pack`") != NULL,
       "a file that is cut in its header is refused: %s", rig.model.error_message);
    rig.file.bytes = 40000;
    OK(model_open(&rig.model, &rig.setup) == ERR_TRUNCATED,
       "a file that is cut in its weights is refused: %s", rig.model.error_message);
    for (long sector = 0; sector < 20; sector += 19) {
        rig_open(0, 0, false);
        rig.fake.fail_sector = sector;
        rig.fake.fail_times = 1000;
        OK(model_open(&rig.model, &rig.setup) == ERR_IO &&
               strstr(rig.model.error_message, "sector ") != NULL,
           "a sector that cannot be read is named: %s", rig.model.error_message);
    }
}

int main(void)
{
    static const char *const shapes[] = { "tiny", "untied" };

    for (unsigned i = 0; i < 3; i++)
        workers_start(&crews[i], rig_platform(), 1u << i);
    for (int i = 0; i < 2; i++) {
        struct rig_limits l;

        printf("# %s\n", shapes[i]);
        rig_make_model(shapes[i], i == 0 ? INGOT_Q8_0 : INGOT_Q4_0);
        rig_compute(i == 0);
        l = rig_limits();
        rig_ids(ids, CONTEXT);
        set_expected(PROMPT);
        test_one_result(l);
        test_full_context(l);
        test_stop(0, "resident");
        test_stop(l.least, "two slots");
        test_visit(l);
        test_memory();
        test_open();
        test_long_head();
    }
    test_mixed_types();
    return tap_done();
}
