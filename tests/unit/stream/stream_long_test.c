/* Long runs: loading, a long prompt at once, and long texts while the card errs. */
#include "tests/unit/rig.h"

enum { PARTS = 4 }; /* requests of an expert */

static uint64_t progress_done, progress_total;
static bool progress_good;
static uint64_t stop_at; /* bytes; 0: never */

static bool progress(void *context, const char *label, uint64_t done, uint64_t total)
{
    (void)context;
    (void)label;
    progress_good = progress_good && done >= progress_done && done <= total;
    progress_done = done;
    progress_total = total;
    return stop_at == 0 || done < stop_at;
}

static void test_progress(size_t limit, bool in_place, const char *form)
{
    progress_good = true;
    progress_done = 0;
    rig_open(limit, 0, in_place);
    rig.setup.progress = progress;
    OK(model_load(&rig.model, &rig.setup) == ERR_OK && progress_good &&
           progress_done == progress_total && progress_total > 0,
       "%s: progress ascends to its total, %d bytes", form, (int)progress_total);
}

/* Stopped at any byte, it ends soon, and another try from the start is right. */
static void test_stopped(size_t limit, bool in_place, const char *form)
{
    uint64_t total = progress_total;
    unsigned wrong = 0;

    for (unsigned i = 0; i < 16; i++) {
        progress_good = true;
        progress_done = 0;
        stop_at = 1 + total * i / 16;
        rig_open(limit, 0, in_place);
        rig.setup.progress = progress;
        wrong += model_load(&rig.model, &rig.setup) != ERR_ABORTED || rig.fake.n_pending != 0 ||
                 (!in_place && rig.model.stream.stats.bytes_loaded >= stop_at + total / 2) ||
                 strstr(rig.model.error_message, "stopped by Ctrl-C") == NULL;
        stop_at = 0;
        wrong += rig_start(limit, 0, in_place) != ERR_OK;
    }
    OK(wrong == 0, "%s: a load may stop at 16 places and be made again, %u wrong", form, wrong);
    stop_at = 1;
    rig_open(limit, 0, in_place);
    rig.setup.progress = progress;
    OK(model_open(&rig.model, &rig.setup) == (in_place ? ERR_OK : ERR_ABORTED) &&
           rig.fake.n_pending == 0,
       "%s: an open may stop while the tables are read", form);
    stop_at = 0;
}

/* A prompt of many tokens passes each layer once: the card is read once, not once for each
 * token. */
static void test_prefill(size_t limit, const char *form)
{
    static uint32_t prompt[128];
    const struct stream_stats *f = &rig.model.stream.stats;
    uint64_t rows;

    rig_start(limit, 0, false);
    rig_ids(prompt, 128);
    OK(rig.model.plan.chunk == 128 && rig_append(prompt, 128, NULL) == ERR_OK &&
           f->bytes_streamed == model_planned_bytes(&rig.model),
       "%s: a prompt of 128 tokens reads the %d bytes of one token", form, (int)f->bytes_streamed);
    rows = f->rows_read + f->rows_kept;
    OK(rows == (rig.model.plan.rows.n != 0 ? 128 : 0),
       "%s: a prompt of 128 tokens reads %d rows of the embedding", form, (int)rows);
    if (rig.model.plan.rows.n != 0) {
        (void)rig_append(&prompt[127], 1, NULL);
        OK(f->rows_read + f->rows_kept == rows + 1 && f->rows_kept != 0,
           "%s: a row that was just there is not read again", form);
    }
}

/* Returns the ids of greedy decoding, in contexts filled to the end, of `n` tokens. */
static bool decode(uint16_t *out, unsigned n, bool compare)
{
    uint32_t id = 5;

    for (unsigned i = 0; i < n; i++) {
        if (rig.session.n_cached == rig.session.context)
            session_clear(&rig.session);
        if (rig_append(&id, 1, NULL) != ERR_OK)
            return false;
        for (uint32_t v = 0, best = 0; v < rig.model.image.header->params.vocab; v++) {
            best = rig.session.logits[v] > rig.session.logits[best] ? v : best;
            id = 3 + (best + i * 7) % 500; /* so that it does not repeat itself */
        }
        if (compare && out[i] != id)
            return false;
        out[i] = (uint16_t)id;
    }
    return true;
}

static uint16_t expected_ids[10000];

static bool set_expected_ids(const char *shape, unsigned n)
{
    rig_make_model(shape, INGOT_Q8_0);
    rig_start(0, 0, false);
    return OK(decode(expected_ids, n, false), "%s: %u tokens are computed from memory", shape, n);
}

static uint32_t request_sectors; /* 0: what the device takes */

/* One request in a hundred fails, and as many arrive with a flipped bit. */
static void test_errors(size_t limit, unsigned n)
{
    const struct stream_stats *f = &rig.model.stream.stats;

    rig_start(limit, 0, false);
    if (request_sectors != 0)
        rig.fake.dev.max_sectors = request_sectors;
    rig.random = 1;
    rig.fail_percent = 1;
    OK(decode(expected_ids, n, true) && f->retries > n / 100 && f->reread > n / 100,
       "the same %u tokens are streamed after %d errors and %d flipped bits: %s", n,
       (int)f->retries, (int)f->reread, rig.session.error_message);
}

/* Returns the least limit with a cache of so many experts of a layer. */
static size_t limit_of_slots(uint32_t n)
{
    size_t limit = SECTOR_BYTES;

    while (rig_open(limit, 0, false) != ERR_OK || rig.model.plan.experts.n_slots != n) {
        limit += SECTOR_BYTES;
        if (limit > RIG_MOST_BYTES)
            rig_die("no cache of this size");
    }
    return limit;
}

/* Layers pass through the ring and experts come one by one, each in parts, of which the first are
 * used before the last has arrived; on demand and ahead. */
static void test_experts(unsigned n)
{
    size_t limit;

    if (!set_expected_ids("experts", n))
        return;
    limit = limit_of_slots(4);
    request_sectors = (uint32_t)(image_layer(&rig.model.image, 0)->expert_bytes / SECTOR_BYTES /
                                 PARTS);
    test_errors(limit, n);
    OK(rig.model.stream.stats.experts_read > n, "%u reads are of experts",
       (unsigned)rig.model.stream.stats.experts_read);
    rig.experts_ahead = true;
    test_errors(limit, n);
    OK(rig.model.stream.stats.experts_ahead != 0, "%u reads of experts are ahead",
       (unsigned)rig.model.stream.stats.experts_ahead);
    rig.experts_ahead = false;
    request_sectors = 0;
}

int main(void)
{
    static const char *const shapes[] = { "tiny", "untied" };

    rig_alone();
    for (size_t i = 0; i < 2; i++) {
        struct rig_limits l;

        rig_make_model(shapes[i], INGOT_Q8_0);
        rig_compute(i == 1);
        l = rig_limits();
        test_progress(l.least, false, "least");
        test_stopped(l.least, false, "least");
        test_progress(l.all, false, "resident");
        test_stopped(l.all, false, "resident");
        test_progress(0, true, "in place");
        test_stopped(0, true, "in place");
        test_prefill(l.least, "least");
        test_prefill(l.untiled, "head pinned");
    }
    rig_compute(false);
    if (set_expected_ids("tiny", 10000))
        test_errors(rig_limits().least, 10000);
    test_experts(2000);
    return tap_done();
}
