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
static struct engine reference; /* all in memory */
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
    return rig.engine.image.header->params.n_layers;
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
    p = &rig.engine.image.header->params;
    rig.setup.kv_card = true;
    rig.setup.kv_file = &card;
    rig.setup.weight_limit =
        (limit != 0 ? limit : limits.all) +
        (size_t)(kv_pages_memory_bytes(p, CONTEXT, rig.kv_type, n_spilled) + 4095) / 4096 * 4096;
    e = engine_open(&rig.engine, &rig.setup);
    return e == ERR_OK ? engine_load(&rig.engine, &rig.setup) : e;
}

/* The reference begins anew, over the same model where it lies. */
static void open_reference(void)
{
    static struct file file;
    static struct block_device device;
    struct engine_setup setup = rig.setup;

    device = (struct block_device){ .name = "memory",
                                    .n_sectors = rig.model_bytes / SECTOR_BYTES,
                                    .max_sectors = 8,
                                    .queue_depth = 1,
                                    .memory = rig.model };
    if (reference_ram == NULL)
        reference_ram = aligned_alloc(4096, RIG_RAM);
    if (file_open_device(&file, &device, rig.model_bytes, NULL) != ERR_OK)
        rig_die("the reference does not open");
    setup.ram.base = reference_ram;
    setup.file = &file;
    setup.weight_limit = 0;
    setup.kv_card = false;
    if (engine_open(&reference, &setup) != ERR_OK || engine_load(&reference, &setup) != ERR_OK)
        rig_die(reference.problem);
}

/* n tokens behind what the engine has; the reference gets what it has not of all of them. */
static bool append_both(uint32_t n)
{
    struct engine *e = &rig.engine;
    uint32_t ids[CONTEXT], common = 0, length = e->kv.length;

    for (uint32_t i = 0; i < n; i++)
        ids[i] = 3 + random_below(e->image.header->params.vocab - 3);
    if (engine_append(e, ids, n, NULL, NULL) != ERR_OK)
        return false;
    while (common < reference.kv.length && common < length + n - 1 &&
           reference.ids[common] == e->ids[common])
        common++;
    reference.kv.length = common;
    return engine_append(&reference, e->ids + common, length + n - common, NULL, NULL) == ERR_OK &&
           memcmp(e->logits, reference.logits, rig_logits_bytes()) == 0;
}

static void test_walk(const char *form, size_t limit, uint32_t n_spilled)
{
    unsigned good = 0, n = 0;

    for (unsigned t = 0; t < (limit == 0 ? 3 : 2); t++) {
        rig.workers = &crews[t];
        if (open_pages(limit, t == 0 ? 0 : 7 + 40 * t, n_spilled) != ERR_OK ||
            rig.engine.plan.n_spilled != n_spilled) {
            OK(false, "%s: %u spilled: %s", form, (unsigned)rig.engine.plan.n_spilled,
               rig.engine.problem);
            return;
        }
        open_reference();
        rig.pace = t == 1 ? RIG_SLOW : RIG_STEADY;
        for (int step = 0; step < 25; step++, n++) {
            uint32_t length = rig.engine.kv.length, room = CONTEXT - length;
            uint32_t most = step % 4 == 0 ? 130 : 5;

            if (room == 0 || step % 7 == 6) { /* undo, retry, reset */
                rig.engine.kv.length = step % 3 == 0 ? 0 : random_below(length + 1);
                room = CONTEXT - rig.engine.kv.length;
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
        uint32_t window = image_layer_window(&rig.engine.image.header->params, i);
        uint32_t end = 1 + (i < 2 ? before : position);

        n += position / 64 - (window != 0 && end > window ? (end - window) / 64 : 0);
    }
    return n;
}

static void test_figures(void)
{
    const struct stream_stats *f = &rig.engine.stream.stats;
    size_t page;
    bool exact = true;
    uint64_t before, seen = 0;

    rig.workers = &crews[0];
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.engine.problem);
    open_reference();
    for (uint32_t i = 0; i < layers(); i++)
        seen += image_layer_window(&rig.engine.image.header->params, i) != 0 ? 2 : CONTEXT / 64;
    page = kv_cache_page_bytes(&rig.engine.image.header->params, rig.kv_type);
    OK(append_both(128) && f->kv_read == 0 && f->kv_written == layers() * 2 * page,
       "a prompt of two pages writes each once, and reads nothing");
    for (uint32_t i = 0; i < 70; i++) {
        before = f->kv_read;
        exact = exact && append_both(1) &&
                f->kv_read - before == pages_seen(128 + i, i == 0 ? 0 : 127 + i) * page;
    }
    OK(exact && f->kv_written == layers() * 3 * page && f->kv_read != 0,
       "a token reads the pages that are full and seen, of every layer once; a page is written once");
    OK(rig.engine.plan.kv_card_read == seen * page, "at the context's end it is %d of %d KiB",
       (int)(rig.engine.plan.kv_card_read >> 10), (int)(rig.engine.plan.kv_card_bytes >> 10));
    OK(rig.engine.plan.kv_card_bytes == layers() * 4 * page &&
           rig.engine.arena.regions[ARENA_KV].used <= rig.engine.plan.kv_bytes,
       "the plan has what they take there and in memory");
}

/* ---- guesses, stops -------------------------------------------------------------------------- */

/* Around the end of a page; of four guesses some are right. */
static void test_guesses(void)
{
    struct engine *e = &rig.engine;
    unsigned good = 0, n = 0;

    rig.guesses = ENGINE_GUESSES;
    if (open_pages(limits.least, 0, layers()) != ERR_OK)
        rig_die(e->problem);
    open_reference();
    rig.guesses = ENGINE_NO_GUESSES;
    append_both(58);
    for (int round = 0; round < 30; round++) {
        uint32_t right = random_below(5), next[5];

        for (uint32_t i = 0; i < 5; i++)
            next[i] = e->ids[e->kv.length + i] = 3 + random_below(100);
        n++;
        if (engine_append_guesses(e, 4, NULL, NULL) != ERR_OK)
            break;
        for (uint32_t i = 0; i < right && engine_was_guessed(e, next[i + 1]); i++)
            engine_take_guess(e);
        (void)engine_was_guessed(e, 2);
        reference.kv.length = e->kv.length - right - 1;
        good += engine_append(&reference, next, right + 1, NULL, NULL) == ERR_OK &&
                memcmp(e->logits, reference.logits, rig_logits_bytes()) == 0;
    }
    OK(good == n && e->kv.length > 64, "%u of %u runs of guesses, %u tokens: the same logits", good,
       n, (unsigned)e->kv.length);
}

static int calls_left;
static bool stop(void *context)
{
    (void)context;
    return calls_left-- <= 0;
}

static void test_stops(void)
{
    struct engine *e = &rig.engine;
    uint32_t ids[CONTEXT];
    unsigned good = 0, n = 0;

    if (open_pages(limits.least, 32, layers()) != ERR_OK)
        rig_die(e->problem);
    open_reference();
    rig_ids(ids, CONTEXT);
    for (int k = 0; k < 20; k++) {
        uint32_t length;

        e->kv.length = length = e->kv.length > 100 ? e->kv.length - 70 : e->kv.length;
        calls_left = k % 9;
        n++;
        if (engine_append(e, ids, 100, stop, NULL) == ERR_ABORTED)
            e->kv.length = length; /* as the chat does */
        good += append_both(1 + (uint32_t)k % 3);
    }
    OK(good == n, "stopped anywhere, it goes on with the same logits: %u of %u", good, n);
}

/* ---- trouble --------------------------------------------------------------------------------- */

static void fill_two_pages(void)
{
    rig.workers = &crews[0];
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.engine.problem);
    open_reference();
    engine_clear(&rig.engine);
    append_both(150);
    stream_reset(&rig.engine.stream); /* what was read ahead is read again */
}

/* What was lost comes from its tokens. */
static bool heals(void)
{
    struct engine *e = &rig.engine;
    uint32_t lost = 150 - e->kv.length;

    return (lost == 0 || engine_append(e, e->ids + e->kv.length, lost, NULL, NULL) == ERR_OK) &&
           e->kv.length == 150 && append_both(1) && append_both(100);
}

static void test_trouble(void)
{
    struct engine *e = &rig.engine;
    size_t page, second;
    uint32_t id = 5;

    fill_two_pages();
    page = kv_cache_page_bytes(&e->image.header->params, rig.kv_type) / SECTOR_BYTES;
    second = 4 * page + page + 1; /* layer 1, page 1 */
    flip_page = (long)second;
    flip_times = 3;
    OK(append_both(1) && e->stream.stats.reread == 3, "a flipped bit is read again: %u times",
       (unsigned)e->stream.stats.reread);

    fill_two_pages();
    card_data[second * SECTOR_BYTES] ^= 1;
    OK(engine_append(e, &id, 1, NULL, NULL) == ERR_BAD_CHECKSUM && e->kv.length == 64 &&
           strstr(e->problem, "ingot.kv: keys and values of layer 1 from token 64 on: not what was "
                              "written") != NULL,
       "one on the card is found: %s", e->problem);
    OK(heals(), "and what it cost is computed again");

    fill_two_pages();
    card_data[(4 * page + 1) * SECTOR_BYTES] ^= 1;
    card_data[(8 * page + 1) * SECTOR_BYTES] ^= 1;
    OK(engine_append(e, &id, 1, NULL, NULL) == ERR_BAD_CHECKSUM && e->kv.length == 0 && heals(),
       "one in the first page of two layers costs all, once: %s", e->problem);

    fill_two_pages();
    card_device.fail_sector = (long)second;
    card_device.fail_times = 3;
    OK(append_both(1) && e->stream.stats.retries == 3, "a failed request is repeated");
    stream_reset(&e->stream);
    card_device.fail_times = 1000;
    OK(engine_append(e, &id, 1, NULL, NULL) == ERR_IO && e->kv.length == 64 &&
           strstr(e->problem, "layer 1 from token 64 on, sector ") != NULL,
       "a lasting one: %s", e->problem);
    card_device.fail_times = 0;
    e->ids[150] = 9;
    OK(heals(), "and the card back: what it cost is computed again");

    fill_two_pages();
    append_both(40);
    card_device.fail_sector = (long)(4 * page + 2 * page); /* layer 1, page 2, about to be full */
    card_device.fail_times = 1000;
    OK(engine_append(e, e->ids, 30, NULL, NULL) == ERR_IO && e->kv.length == 190 &&
           strstr(e->problem, "layer 1 from token 128 on, sector ") != NULL,
       "a write that fails loses nothing: %s", e->problem);
    card_device.fail_times = 0;
    OK(append_both(1) && append_both(50), "and is made again");

    fill_two_pages();
    e->kv.length = 100; /* into page 1, which is then written over in vain */
    card_device.fail_sector = (long)second;
    card_device.fail_times = 1000;
    OK(engine_append(e, e->ids, 60, NULL, NULL) == ERR_IO && e->kv.length == 64,
       "a page that cannot be read for the rest of it: %s", e->problem);
    fill_two_pages();
    e->kv.length = 100;
    card_device.dev.writable = false;
    OK(engine_append(e, e->ids, 60, NULL, NULL) == ERR_UNSUPPORTED && e->kv.length == 100,
       "one that is cut back and cannot be written again is whole in memory: %s", e->problem);
    card_device.dev.writable = true;
    OK(append_both(3), "and the logits are right");
}

static void test_opening(void)
{
    struct engine *e = &rig.engine;

    (void)open_pages(0, 0, layers());
    card.bytes = e->plan.kv_card_bytes - SECTOR_BYTES;
    OK(engine_open(e, &rig.setup) == ERR_NO_SPACE && strstr(e->problem, "KV=") != NULL, "%s",
       e->problem);
    rig.setup.weight_limit = 0;
    OK(engine_open(e, &rig.setup) == ERR_OK && e->plan.n_spilled == 0 && e->plan.kv_card_bytes == 0,
       "with memory enough nothing spills, and no file is needed");
}

/* ---- a conversation in a file ---------------------------------------------------------------- */

static struct saved_chat saved;
static struct turns turns;

static void test_saved(void)
{
    struct engine *e = &rig.engine;
    struct saved_chat_state state = { &e->image, &e->kv, NULL, 151, 9, true, &turns };
    struct saved_chat_state other = { &reference.image, &reference.kv, NULL, 151, 9, true, &turns };

    fill_two_pages();
    state.ids = e->ids;
    other.ids = reference.ids;
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "saved from the card, and it goes on %s", saved.problem);
    engine_clear(e);
    append_both(90);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && e->kv.length == 150 &&
           append_both(2),
       "loaded to the card");
    engine_clear(&reference);
    memset(reference.kv.keys, 0x11, 5000);
    OK(saved_chat_read(&saved, &save_file, &other, NULL, NULL) == ERR_OK &&
           reference.kv.length == 150,
       "and to memory");
    e->kv.length = 150;
    OK(append_both(3), "which is the same");
    e->kv.length = 20;
    OK(append_both(3), "from its first page on");
    engine_clear(e);
    OK(saved_chat_read(&saved, &save_file, &state, NULL, NULL) == ERR_OK && append_both(1),
       "and once more %s", saved.problem);
    e->kv.length = 150;
    stream_reset(&e->stream);
    card_data[100] ^= 1;
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_BAD_CHECKSUM &&
           e->kv.length == 0 && strstr(saved.problem, "keys and values of layer 0") != NULL,
       "a lost page while saving: %s", saved.problem);
}

/* Of every two layers the first sees 70 positions. */
static void set_window(void)
{
    struct ingot_header *h = (struct ingot_header *)(void *)rig.model;

    h->params.window = 70;
    h->params.global_every = 2;
    h->params.rope_base_local = h->params.rope_base;
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
    struct engine *e = &rig.engine;
    struct saved_chat_state state = { &e->image, &e->kv, NULL, 151, 9, true, &turns };
    bool goes_on = true;
    unsigned saves = 0, loads = 0, n_kept = 0;
    enum err result;

    fill_two_pages();
    state.ids = e->ids;
    open_device(&save_device, &save_file, save_data, SAVE_BYTES, "saves/chat.sav");
    OK(saved_chat_write(&saved, &save_file, &state, NULL, NULL) == ERR_OK,
       "a conversation is saved");
    do {
        steps_left = saves;
        result = saved_chat_write(&saved, &save_file, &state, step, NULL);
        goes_on = goes_on && e->kv.length == 150 && append_both(1);
        e->kv.length = 150;
    } while (result == ERR_ABORTED && ++saves < MOST_STEPS);
    OK(result == ERR_OK && saves > 1 && goes_on,
       "Ctrl-C at each of %u steps of a save: the chat goes on as it was", saves);
    do {
        uint32_t length = e->kv.length;

        steps_left = loads;
        result = saved_chat_read(&saved, &save_file, &state, step, NULL);
        n_kept += e->kv.length == length && result != ERR_OK;
        goes_on = goes_on && (e->kv.length == length || e->kv.length == 0 || result == ERR_OK) &&
                  append_both(1);
    } while (result == ERR_ABORTED && ++loads < MOST_STEPS);
    OK(result == ERR_OK && loads > n_kept && n_kept > 0 && goes_on && e->kv.length == 151,
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
