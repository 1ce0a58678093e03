/* Keys and values on a card against the same in memory: the logits have the same bits whatever is
 * appended, taken back, guessed or stopped, and after every kind of trouble with the card. */
#include "tests/unit/stream/kv_pages_rig.h"

static void test_walk(const char *form, size_t limit, uint32_t n_spilled)
{
    unsigned good = 0, n = 0;

    for (unsigned t = 0; t < (limit == 0 ? 3 : 2); t++) {
        rig.workers = &crews[t];
        if (open_pages(limit, t == 0 ? 0 : 7 + 40 * t, n_spilled) != ERR_OK ||
            rig.model.plan.kv.n_spilled != n_spilled) {
            OK(false, "%s: %u layers spill: %s", form, (unsigned)rig.model.plan.kv.n_spilled,
               rig.model.error_message);
            return;
        }
        open_reference();
        rig.pace = t == 1 ? RIG_SLOW : RIG_STEADY;
        for (int step = 0; step < 25; step++, n++) {
            uint32_t length = rig.session.n_cached, room = CONTEXT - length;
            uint32_t most = step % 4 == 0 ? 130 : 5;

            if (room == 0 || step % 7 == 6) { /* undo, retry, reset */
                (void)session_cut(&rig.session, step % 3 == 0 ? 0 : random_below(length + 1));
                room = CONTEXT - rig.session.n_cached;
            }
            good += append_both(1 + random_below(room < most ? room : most));
        }
    }
    OK(good == n, "%s, %u of %u layers on the card: %u of %u steps give the logits of memory", form,
       (unsigned)n_spilled, (unsigned)layers(), good, n);
}

/* ---- what is read and written -------------------------------------------------------------- */

/* Pages of all layers for a token at `position`. Those of the first two layers were requested
 * before the pass before, from `before` on, was over: they have what that pass saw. */
static uint64_t pages_seen(uint32_t position, uint32_t before)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < layers(); i++) {
        uint32_t window = image_layer(&rig.model.image, i)->window;
        uint32_t end = 1 + (i < 2 ? before : position);

        n += position / 64 - (window != 0 && end > window ? (end - window) / 64 : 0);
    }
    return n;
}

static void test_figures(void)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    size_t page;
    bool exact = true;
    uint64_t before, seen = 0;

    rig.workers = &crews[0];
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.model.error_message);
    open_reference();
    for (uint32_t i = 0; i < layers(); i++)
        seen += image_layer(&rig.model.image, i)->window != 0 ? 2 : CONTEXT / 64;
    page = kv_cache_page_bytes(&rig.model.image.layers[0], rig.kv);
    OK(append_both(128) && f->kv_read == 0 && f->kv_written == layers() * 2 * page,
       "a prompt of two pages writes each once, and reads nothing");
    for (uint32_t i = 0; i < 70; i++) {
        before = f->kv_read;
        exact = exact && append_both(1) &&
                f->kv_read - before == pages_seen(128 + i, i == 0 ? 0 : 127 + i) * page;
    }
    OK(exact && f->kv_written == layers() * 3 * page && f->kv_read != 0,
       "a token reads each full page that a layer sees once, and a page is written once");
    OK(rig.model.plan.kv.card_read == seen * page,
       "a token reads %d of %d KiB at the context's end", (int)(rig.model.plan.kv.card_read >> 10),
       (int)(rig.model.plan.kv.card >> 10));
    OK(rig.model.plan.kv.card == layers() * 4 * page &&
           rig.model.arena.regions[ARENA_KV].used <= rig.model.plan.memory.kv,
       "the plan has what the pages take on the card and in memory");
}

/* ---- guesses, stops -------------------------------------------------------------------------- */

/* Around the end of a page; of four guesses some are right. */
static void test_guesses(void)
{
    struct session *s = &rig.session;
    unsigned good = 0, n = 0;

    rig.guesses = MODEL_GUESSES;
    if (open_pages(limits.least, 0, layers()) != ERR_OK)
        rig_die(s->error_message);
    open_reference();
    rig.guesses = MODEL_NO_GUESSES;
    append_both(58);
    for (int round = 0; round < 30; round++) {
        uint32_t right = random_below(5), next[5], room;

        for (uint32_t i = 0; i < 5; i++)
            next[i] = 3 + random_below(100);
        n++;
        (void)session_put(s, next, 1);
        memcpy(session_room(s, &room), next + 1, 4 * sizeof *next);
        if (session_run_guesses(s, 4, NULL) != ERR_OK)
            break;
        for (uint32_t i = 0; i < right && session_put_next(s, next[i + 1]); i++)
            session_take_guess(s);
        (void)session_put_next(s, 2);
        (void)session_cut(&reference, s->n_cached - right - 1);
        good += session_append(&reference, next, right + 1, NULL) == ERR_OK &&
                memcmp(s->logits, reference.logits, rig_logits_bytes()) == 0;
        (void)session_cut(s, s->n_cached); /* without the token that was not a guess */
    }
    OK(good == n && s->n_cached > 64, "%u of %u runs of guesses, %u tokens, have the same logits",
       good, n, (unsigned)s->n_cached);
}

static int calls_left;
static bool stop(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

static void test_stops(void)
{
    struct session *s = &rig.session;
    uint32_t ids[CONTEXT];
    unsigned good = 0, n = 0;

    if (open_pages(limits.least, 32, layers()) != ERR_OK)
        rig_die(s->error_message);
    open_reference();
    rig_ids(ids, CONTEXT);
    for (int k = 0; k < 20; k++) {
        uint32_t length = session_cut(s, s->n_cached > 100 ? s->n_cached - 70 : s->n_cached);
        calls_left = k % 9;
        n++;
        if (rig_append(ids, 100, &(struct stop){ stop, NULL }) == ERR_ABORTED)
            (void)session_cut(s, length); /* as the chat does */
        good += append_both(1 + (uint32_t)k % 3);
    }
    OK(good == n, "a pass that stops anywhere goes on with the same logits: %u of %u", good, n);
}

/* ---- trouble --------------------------------------------------------------------------------- */

/* Lost parts are computed from their tokens. */
static bool heals(void)
{
    struct session *s = &rig.session;
    uint32_t lost = 150 - s->n_cached;

    (void)session_cut(s, 150); /* what was requested in vain */
    return (lost == 0 || session_run(s, NULL) == ERR_OK) && s->n_cached == 150 && append_both(1) &&
           append_both(100);
}

static void test_trouble(void)
{
    struct session *s = &rig.session;
    size_t page, second;
    uint32_t id = 5;

    fill_two_pages();
    page = kv_cache_page_bytes(&s->model->image.layers[0], rig.kv) / SECTOR_BYTES;
    second = 4 * page + page + 1; /* layer 1, page 1 */
    flip_page = (long)second;
    flip_times = 3;
    OK(append_both(1) && s->model->stream.stats.reread == 3,
       "a flipped bit is read again: %u times", (unsigned)s->model->stream.stats.reread);
    fill_two_pages();
    flip_times = 4;
    OK(rig_append(&id, 1, NULL) == ERR_BAD_CHECKSUM && s->n_cached == 64 && flip_times == 0 &&
           s->model->stream.stats.reread == 3 && heals(),
       "a flipped bit is read three times again, and no more: %s", s->error_message);

    fill_two_pages();
    card_data[second * SECTOR_BYTES] ^= 1;
    OK(rig_append(&id, 1, NULL) == ERR_BAD_CHECKSUM && s->n_cached == 64 &&
           strstr(s->error_message,
                  "ingot.kv: keys and values of layer 1 from token 64 on: their bytes "
                  "differ from those written") != NULL,
       "a flipped bit on the card is found: %s", s->error_message);
    OK(heals(), "the keys that the error cost are computed again");

    fill_two_pages();
    card_data[(4 * page + 1) * SECTOR_BYTES] ^= 1;
    card_data[(8 * page + 1) * SECTOR_BYTES] ^= 1;
    OK(rig_append(&id, 1, NULL) == ERR_BAD_CHECKSUM && s->n_cached == 0 && heals(),
       "a flipped bit in the first page of two layers costs all tokens, once: %s",
       s->error_message);

    fill_two_pages();
    card_device.fail_sector = (long)second;
    card_device.fail_times = 3;
    OK(append_both(1) && s->model->stream.stats.retries == 3, "a failed request is repeated");
    stream_reset(&s->model->stream);
    card_device.fail_times = 1000;
    OK(rig_append(&id, 1, NULL) == ERR_IO && s->n_cached == 64 &&
           strstr(s->error_message, "layer 1 from token 64 on, sector ") != NULL,
       "a request that always fails is reported: %s", s->error_message);
    card_device.fail_times = 0;
    s->ids[150] = 9;
    OK(heals(), "the lost part is computed again when the card is back");

    fill_two_pages();
    append_both(40);
    card_device.fail_sector = (long)(4 * page + 2 * page); /* layer 1, page 2, about to be full */
    card_device.fail_times = 1000;
    OK(rig_append(s->ids, 30, NULL) == ERR_IO && s->n_cached == 190 &&
           strstr(s->error_message, "layer 1 from token 128 on, sector ") != NULL,
       "a write that fails loses nothing: %s", s->error_message);
    card_device.fail_times = 0;
    OK(append_both(1) && append_both(50), "the part that failed is written again");

    fill_two_pages();
    (void)session_cut(s, 100); /* into page 1, which is then written over in vain */
    card_device.fail_sector = (long)second;
    card_device.fail_times = 1000;
    OK(rig_append(s->ids, 60, NULL) == ERR_IO && s->n_cached == 64,
       "a page that cannot be read for its rest is reported: %s", s->error_message);
    fill_two_pages();
    (void)session_cut(s, 100);
    card_device.dev.writable = false;
    OK(rig_append(s->ids, 60, NULL) == ERR_UNSUPPORTED && s->n_cached == 100,
       "a page that is cut back and cannot be written again is whole in memory: %s",
       s->error_message);
    card_device.dev.writable = true;
    OK(append_both(3), "the logits are right after the failed write");
}

static void test_opening(void)
{
    struct session *s = &rig.session;

    (void)open_pages(0, 0, layers());
    card.bytes = s->model->plan.kv.card - SECTOR_BYTES;
    OK(model_open(&rig.model, &rig.setup) == ERR_NO_SPACE &&
           strstr(rig.model.error_message, "KV=") != NULL,
       "a file that is too small is reported: %s", rig.model.error_message);
    rig.setup.limits.weights = 0;
    OK(model_open(&rig.model, &rig.setup) == ERR_OK && s->model->plan.kv.n_spilled == 0 &&
           s->model->plan.kv.card == 0,
       "nothing spills with enough memory, and no file is needed");
}

static void test_model(unsigned i)
{
    char name[KV_TYPES_NAME_BYTES];

    for (unsigned type = 0; type < (i == 0 ? 2 : 1); type++) {
        rig.kv = type == 0 ? kv_both(KV_F16) : kv_both(KV_F32);
        printf("# %s, %s%s\n", kv_shapes[i], kv_types_name(rig.kv, name),
               i == 2 ? ", windows" : "");
        test_walk("resident", 0, layers());
        test_walk("two slots", limits.least, layers());
        if (layers() > KV_PAGES_LEAST)
            test_walk("resident", 0, KV_PAGES_LEAST);
        test_figures();
        test_guesses();
        test_stops();
    }
    test_trouble();
    test_opening();
}

int main(void)
{
    kv_rig_models(test_model);
    return tap_done();
}
