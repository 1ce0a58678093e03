/* Keys and values on a card against the same in memory: the logits are the same bits whatever is
 * appended, taken back, guessed or stopped, and after every kind of trouble with the card. */
#include "runtime/stream/kv_pages.h"

#include "runtime/chat/saved_chat.h"
#include "runtime/base/crc32c.h"
#include "tests/unit/rig.h"

enum { CONTEXT = 256, CARD_BYTES = 1 << 20, SAVE_BYTES = 2 << 20 };

static struct workers crews[3]; /* 1, 2 and 4 cores */
static struct fake_block card_device, save_device;
static struct file card, save_file;
static _Alignas(64) uint8_t card_data[CARD_BYTES], save_data[SAVE_BYTES];
static struct model reference_model; /* all in memory */
static struct session reference;
static uint8_t *reference_ram;
static struct rig_limits limits;
static long flip_page = NO_SECTOR; /* sector of the card that arrives with a flipped bit ... */
static unsigned flip_times;        /* ... so often */
static uint32_t random_state = 1;

static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static void card_sector(uint64_t sector, uint8_t *out)
{
    memcpy(out, card_data + sector * SECTOR_BYTES, SECTOR_BYTES);
    if ((long)sector == flip_page && flip_times > 0) {
        flip_times--;
        out[100] ^= 4;
    }
}

static void open_device(struct fake_block *device, struct file *file, uint8_t *data, size_t bytes,
                        const char *name)
{
    fake_init(device, data, bytes / SECTOR_BYTES);
    device->written = data;
    device->dev.writable = true;
    if (file_open_device(file, &device->dev, bytes, NULL) != ERR_OK)
        rig_die("a device does not open");
    file_set_name(file, name);
}

static uint32_t layers(void)
{
    return rig.model.image.header->params.n_layers;
}

/* With weights in `limit` bytes, 0 all of them, and n_spilled layers on the card. */
static enum err open_pages(size_t limit, uint32_t chunk, uint32_t n_spilled)
{
    const struct ingot_params *p;
    enum err e;

    open_device(&card_device, &card, card_data, CARD_BYTES, "ingot.kv");
    card_device.make = card_sector;
    card_device.dev.max_sectors = 8; /* half a page: what arrived before an error stays */
    flip_times = 0;
    memset(card_data, 0xee, sizeof card_data);
    (void)rig_open(limit, chunk, false);
    p = &rig.model.image.header->params;
    rig.setup.limits.kv_card = true;
    rig.setup.kv_file = &card;
    rig.setup.limits.weights =
        (limit != 0 ? limit : limits.all) +
        (size_t)(kv_pages_memory_bytes(p, CONTEXT, rig.kv_type, n_spilled) + 4095) / 4096 * 4096;
    e = model_open(&rig.model, &rig.setup);
    return e == ERR_OK ? rig_load() : e;
}

/* The reference begins anew, over the same model where it lies. */
static void open_reference(void)
{
    static struct file file;
    static struct block_device device;
    struct model_setup setup = rig.setup;

    device = (struct block_device){ .name = "memory",
                                    .n_sectors = rig.packed_bytes / SECTOR_BYTES,
                                    .max_sectors = 8,
                                    .queue_depth = 1,
                                    .memory = rig.packed };
    if (reference_ram == NULL)
        reference_ram = aligned_alloc(4096, RIG_RAM);
    if (file_open_device(&file, &device, rig.packed_bytes, NULL) != ERR_OK)
        rig_die("the reference does not open");
    setup.ram.base = reference_ram;
    setup.file = &file;
    setup.limits.weights = 0;
    setup.limits.kv_card = false;
    if (model_open(&reference_model, &setup) != ERR_OK ||
        model_load(&reference_model, &setup) != ERR_OK)
        rig_die(reference_model.problem);
    session_open(&reference, &reference_model, &setup);
}

/* n tokens after what the session has cached; the reference gets those of all that it lacks. */
static bool append_both(uint32_t n)
{
    struct session *s = &rig.session;
    uint32_t ids[CONTEXT], common = 0, length = session_cut(s, s->n_cached);

    for (uint32_t i = 0; i < n; i++)
        ids[i] = 3 + random_below(s->model->image.header->params.vocab - 3);
    if (rig_append(ids, n, NULL) != ERR_OK)
        return false;
    while (common < reference.n_ids && common < length + n - 1 &&
           reference.ids[common] == s->ids[common])
        common++;
    (void)session_cut(&reference, common);
    return session_append(&reference, s->ids + common, length + n - common, NULL) == ERR_OK &&
           memcmp(s->logits, reference.logits, rig_logits_bytes()) == 0;
}

static void test_walk(const char *form, size_t limit, uint32_t n_spilled)
{
    unsigned good = 0, n = 0;

    for (unsigned t = 0; t < (limit == 0 ? 3 : 2); t++) {
        rig.workers = &crews[t];
        if (open_pages(limit, t == 0 ? 0 : 7 + 40 * t, n_spilled) != ERR_OK ||
            rig.model.plan.kv.n_spilled != n_spilled) {
            OK(false, "%s: %u spilled: %s", form, (unsigned)rig.model.plan.kv.n_spilled,
               rig.model.problem);
            return;
        }
        open_reference();
        rig.pace = t == 1 ? RIG_SLOW : RIG_STEADY;
        for (int step = 0; step < 25; step++, n++) {
            uint32_t length = rig.session.n_cached, room = CONTEXT - length;
            uint32_t most = step % 4 == 0 ? 130 : 5;

            if (room == 0 || step % 7 == 6) { /* undo, retry, reset */
                rig.session.n_cached = step % 3 == 0 ? 0 : random_below(length + 1);
                room = CONTEXT - rig.session.n_cached;
            }
            good += append_both(1 + random_below(room < most ? room : most));
        }
    }
    OK(good == n, "%s, %u of %u layers on the card: %u of %u steps give the logits of memory", form,
       (unsigned)n_spilled, (unsigned)layers(), good, n);
}

/* ---- what is read and written -------------------------------------------------------------- */

/* Pages of all layers for a token at `position`. The first two layers were asked for while the pass
 * before, from `before` on, was not over: they have what that one saw. */
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
        rig_die(rig.model.problem);
    open_reference();
    for (uint32_t i = 0; i < layers(); i++)
        seen += image_layer(&rig.model.image, i)->window != 0 ? 2 : CONTEXT / 64;
    page = kv_cache_page_bytes(&rig.model.image.header->params, rig.kv_type);
    OK(append_both(128) && f->kv_read == 0 && f->kv_written == layers() * 2 * page,
       "a prompt of two pages writes each once, and reads nothing");
    for (uint32_t i = 0; i < 70; i++) {
        before = f->kv_read;
        exact = exact && append_both(1) &&
                f->kv_read - before == pages_seen(128 + i, i == 0 ? 0 : 127 + i) * page;
    }
    OK(exact && f->kv_written == layers() * 3 * page && f->kv_read != 0,
       "a token reads the pages that are full and seen, of every layer once; a page is written once");
    OK(rig.model.plan.kv.card_read == seen * page, "at the context's end it is %d of %d KiB",
       (int)(rig.model.plan.kv.card_read >> 10), (int)(rig.model.plan.kv.card >> 10));
    OK(rig.model.plan.kv.card == layers() * 4 * page &&
           rig.model.arena.regions[ARENA_KV].used <= rig.model.plan.memory.kv,
       "the plan has what they take there and in memory");
}

/* ---- guesses, stops -------------------------------------------------------------------------- */

/* Around the end of a page; of four guesses some are right. */
static void test_guesses(void)
{
    struct session *s = &rig.session;
    unsigned good = 0, n = 0;

    rig.guesses = MODEL_GUESSES;
    if (open_pages(limits.least, 0, layers()) != ERR_OK)
        rig_die(s->problem);
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
        (void)session_cut(s, s->n_cached); /* without the token that was no guess */
    }
    OK(good == n && s->n_cached > 64, "%u of %u runs of guesses, %u tokens: the same logits", good,
       n, (unsigned)s->n_cached);
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
        rig_die(s->problem);
    open_reference();
    rig_ids(ids, CONTEXT);
    for (int k = 0; k < 20; k++) {
        uint32_t length;

        s->n_cached = length = s->n_cached > 100 ? s->n_cached - 70 : s->n_cached;
        calls_left = k % 9;
        n++;
        if (rig_append(ids, 100, &(struct stop){ stop, NULL }) == ERR_ABORTED)
            (void)session_cut(s, length); /* as the chat does */
        good += append_both(1 + (uint32_t)k % 3);
    }
    OK(good == n, "stopped anywhere, it goes on with the same logits: %u of %u", good, n);
}

/* ---- trouble --------------------------------------------------------------------------------- */

static void fill_two_pages(void)
{
    rig.workers = &crews[0];
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.model.problem);
    open_reference();
    session_clear(&rig.session);
    append_both(150);
    stream_reset(&rig.model.stream); /* what was read ahead is read again */
}

/* What was lost comes from its tokens. */
static bool heals(void)
{
    struct session *s = &rig.session;
    uint32_t lost = 150 - s->n_cached;

    (void)session_cut(s, 150); /* what was asked for in vain */
    return (lost == 0 || session_run(s, NULL) == ERR_OK) && s->n_cached == 150 && append_both(1) &&
           append_both(100);
}

static void test_trouble(void)
{
    struct session *s = &rig.session;
    size_t page, second;
    uint32_t id = 5;

    fill_two_pages();
    page = kv_cache_page_bytes(&s->model->image.header->params, rig.kv_type) / SECTOR_BYTES;
    second = 4 * page + page + 1; /* layer 1, page 1 */
    flip_page = (long)second;
    flip_times = 3;
    OK(append_both(1) && s->model->stream.stats.reread == 3,
       "a flipped bit is read again: %u times", (unsigned)s->model->stream.stats.reread);

    fill_two_pages();
    card_data[second * SECTOR_BYTES] ^= 1;
    OK(rig_append(&id, 1, NULL) == ERR_BAD_CHECKSUM && s->n_cached == 64 &&
           strstr(s->problem, "ingot.kv: keys and values of layer 1 from token 64 on: not what was "
                              "written") != NULL,
       "one on the card is found: %s", s->problem);
    OK(heals(), "and what it cost is computed again");

    fill_two_pages();
    card_data[(4 * page + 1) * SECTOR_BYTES] ^= 1;
    card_data[(8 * page + 1) * SECTOR_BYTES] ^= 1;
    OK(rig_append(&id, 1, NULL) == ERR_BAD_CHECKSUM && s->n_cached == 0 && heals(),
       "one in the first page of two layers costs all, once: %s", s->problem);

    fill_two_pages();
    card_device.fail_sector = (long)second;
    card_device.fail_times = 3;
    OK(append_both(1) && s->model->stream.stats.retries == 3, "a failed request is repeated");
    stream_reset(&s->model->stream);
    card_device.fail_times = 1000;
    OK(rig_append(&id, 1, NULL) == ERR_IO && s->n_cached == 64 &&
           strstr(s->problem, "layer 1 from token 64 on, sector ") != NULL,
       "a lasting one: %s", s->problem);
    card_device.fail_times = 0;
    s->ids[150] = 9;
    OK(heals(), "and the card back: what it cost is computed again");

    fill_two_pages();
    append_both(40);
    card_device.fail_sector = (long)(4 * page + 2 * page); /* layer 1, page 2, about to be full */
    card_device.fail_times = 1000;
    OK(rig_append(s->ids, 30, NULL) == ERR_IO && s->n_cached == 190 &&
           strstr(s->problem, "layer 1 from token 128 on, sector ") != NULL,
       "a write that fails loses nothing: %s", s->problem);
    card_device.fail_times = 0;
    OK(append_both(1) && append_both(50), "and is made again");

    fill_two_pages();
    (void)session_cut(s, 100); /* into page 1, which is then written over in vain */
    card_device.fail_sector = (long)second;
    card_device.fail_times = 1000;
    OK(rig_append(s->ids, 60, NULL) == ERR_IO && s->n_cached == 64,
       "a page that cannot be read for the rest of it: %s", s->problem);
    fill_two_pages();
    (void)session_cut(s, 100);
    card_device.dev.writable = false;
    OK(rig_append(s->ids, 60, NULL) == ERR_UNSUPPORTED && s->n_cached == 100,
       "one that is cut back and cannot be written again is whole in memory: %s", s->problem);
    card_device.dev.writable = true;
    OK(append_both(3), "and the logits are right");
}

static void test_opening(void)
{
    struct session *s = &rig.session;

    (void)open_pages(0, 0, layers());
    card.bytes = s->model->plan.kv.card - SECTOR_BYTES;
    OK(model_open(&rig.model, &rig.setup) == ERR_NO_SPACE &&
           strstr(rig.model.problem, "KV=") != NULL,
       "%s", rig.model.problem);
    rig.setup.limits.weights = 0;
    OK(model_open(&rig.model, &rig.setup) == ERR_OK && s->model->plan.kv.n_spilled == 0 &&
           s->model->plan.kv.card == 0,
       "with memory enough nothing spills, and no file is needed");
}

/* ---- a conversation in a file ---------------------------------------------------------------- */

static struct saved_chat saved;
static struct turns turns;

/* A token that the session knows and has not computed. */
static void add_pending(void)
{
    uint32_t id = 5;

    (void)session_put(&rig.session, &id, 1);
}

static void test_saved(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = { s, 9, true, &turns };
    struct saved_chat_state other = { &reference, 9, true, &turns };

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "saved from the card, and it goes on %s", saved.problem);
    session_clear(s);
    append_both(90);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && s->n_cached == 150 &&
           append_both(2),
       "loaded to the card");
    session_clear(&reference);
    memset(reference.kv.keys, 0x11, 5000);
    OK(saved_chat_read(&saved, &save_file, &other, NULL, NULL) == ERR_OK &&
           reference.n_cached == 150,
       "and to memory");
    (void)session_cut(s, 150);
    OK(append_both(3), "which is the same");
    (void)session_cut(s, 20);
    OK(append_both(3), "from its first page on");
    session_clear(s);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "and once more %s", saved.problem);
    (void)session_cut(s, 150);
    stream_reset(&s->model->stream);
    card_data[100] ^= 1;
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_BAD_CHECKSUM &&
           s->n_cached == 0 && strstr(saved.problem, "keys and values of layer 0") != NULL,
       "a lost page while saving: %s", saved.problem);
}

/* Of every two layers the first sees 70 positions. */
static void set_window(void)
{
    struct ingot_header *h = (struct ingot_header *)(void *)rig.packed;
    struct ingot_layer *layers = (struct ingot_layer *)(void *)(rig.packed + h->layers.offset);

    for (uint32_t i = 0; i < h->params.n_layers; i += 2)
        layers[i].window = 70;
    h->layers.crc32c = crc32c(0, layers, (size_t)h->layers.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

enum { MOST_STEPS = 1000 };
static unsigned steps_left;

static bool step(void *context, const char *doing, uint64_t done, uint64_t total)
{
    (void)context, (void)doing, (void)done, (void)total;
    return steps_left-- > 0;
}

/* Ctrl-C at every step of a save and of a load. */
static void test_saved_stops(void)
{
    struct session *s = &rig.session;
    struct saved_chat_state state = { s, 9, true, &turns };
    bool goes_on = true;
    unsigned saves = 0, loads = 0, n_kept = 0;
    enum err result;

    fill_two_pages();
    add_pending();
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK,
       "a conversation is saved");
    do {
        steps_left = saves;
        result = saved_chat_write(&saved, &save_file, &state, step, NULL);
        goes_on = goes_on && s->n_cached == 150 && append_both(1);
        (void)session_cut(s, 150);
    } while (result == ERR_ABORTED && ++saves < MOST_STEPS);
    OK(result == ERR_OK && saves > 1 && goes_on,
       "Ctrl-C at each of %u steps of a save: the chat goes on as it was", saves);
    do {
        uint32_t length = s->n_cached;

        steps_left = loads;
        result = saved_chat_read(&saved, &save_file, &state, step, NULL);
        n_kept += s->n_cached == length && result != ERR_OK;
        goes_on = goes_on && (s->n_cached == length || s->n_cached == 0 || result == ERR_OK) &&
                  append_both(1);
    } while (result == ERR_ABORTED && ++loads < MOST_STEPS);
    OK(result == ERR_OK && loads > n_kept && n_kept > 0 && goes_on && s->n_cached == 151,
       "at %u of %u of a load, too; at the others it is empty; then it is the one saved", n_kept,
       loads);
}

int main(void)
{
    static const char *const shapes[] = { "tiny", "untied", "tiny" };

    for (unsigned i = 0; i < 3; i++)
        workers_start(&crews[i], rig_platform(), 1u << i);
    for (unsigned i = 0; i < 3; i++) {
        rig_make_model(shapes[i], INGOT_Q8_0);
        if (i == 2)
            set_window();
        rig.kv_type = KV_F16;
        rig.workers = &crews[0];
        rig_compute(i == 1);
        limits = rig_limits();
        for (unsigned type = 0; type < (i == 0 ? 2 : 1); type++) {
            rig.kv_type = type == 0 ? KV_F16 : KV_F32;
            printf("# %s, %s%s\n", shapes[i], kv_type_name(rig.kv_type), i == 2 ? ", windows" : "");
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
        test_saved();
        test_saved_stops();
    }
    return tap_done();
}
