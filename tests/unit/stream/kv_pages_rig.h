/* A session whose keys and values are on a card, and a reference with the same in memory: the same
 * input gives logits of the same bits. */
#ifndef INGOT_TESTS_UNIT_KV_PAGES_RIG_H
#define INGOT_TESTS_UNIT_KV_PAGES_RIG_H

#include "runtime/base/crc32c.h"
#include "runtime/model/layer_kinds.h"
#include "runtime/stream/kv_pages.h"
#include "tests/unit/rig.h"

enum { CONTEXT = 256, CARD_BYTES = 1 << 20 };

static struct workers crews[3]; /* 1, 2 and 4 cores */
static struct fake_block card_device;
static struct file card;
static _Alignas(64) uint8_t card_data[CARD_BYTES];
static struct model reference_model; /* all in memory */
static struct session reference;
static uint8_t *reference_ram;
static struct rig_limits limits;
static long flip_page = NO_SECTOR; /* sector of the card that arrives with a flipped bit ... */
static unsigned flip_times;        /* ... so often */
static uint32_t random_state = 1;

static inline uint32_t random_below(uint32_t n)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % n;
}

static inline void card_sector(uint64_t sector, uint8_t *out)
{
    memcpy(out, card_data + sector * SECTOR_BYTES, SECTOR_BYTES);
    if ((long)sector == flip_page && flip_times > 0) {
        flip_times--;
        out[100] ^= 4;
    }
}

static inline void open_device(struct fake_block *device, struct file *file, uint8_t *data,
                               size_t bytes, const char *name)
{
    fake_init(device, data, bytes / SECTOR_BYTES);
    device->written = data;
    device->dev.writable = true;
    if (file_open_device(file, &device->dev, bytes, NULL) != ERR_OK)
        rig_die("a device does not open");
    file_set_name(file, name);
}

static inline uint32_t layers(void)
{
    return rig.model.image.header->params.n_layers;
}

/* Opens it with weights in `limit` bytes (0: all of them) and n_spilled layers on the card. */
static inline enum err open_pages(size_t limit, uint32_t chunk, uint32_t n_spilled)
{
    enum err e;

    open_device(&card_device, &card, card_data, CARD_BYTES, "ingot.kv");
    card_device.make = card_sector;
    card_device.dev.max_sectors = 8; /* half a page: what arrived before an error stays */
    flip_times = 0;
    memset(card_data, 0xee, sizeof card_data);
    (void)rig_open(limit, chunk, false);
    rig.setup.limits.kv_card = true;
    rig.setup.kv_file = &card;
    rig.setup.limits.weights = (limit != 0 ? limit : limits.all) +
                               (size_t)(kv_pages_memory_bytes(&rig.model.image, CONTEXT, rig.kv,
                                                              n_spilled) +
                                        layer_states_bytes(&rig.model.image) + 4095) /
                                   4096 * 4096;
    e = model_open(&rig.model, &rig.setup);
    return e == ERR_OK ? rig_load() : e;
}

/* The reference begins anew, over the same model in place. */
static inline void open_reference(void)
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
        rig_die(reference_model.error_message);
    session_open(&reference, &reference_model, &setup);
}

/* Appends n tokens to the session; the reference gets all that it lacks. */
static inline bool append_both(uint32_t n)
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

static inline void fill_two_pages(void)
{
    rig.workers = &crews[0];
    if (open_pages(0, 0, layers()) != ERR_OK)
        rig_die(rig.model.error_message);
    open_reference();
    session_clear(&rig.session);
    append_both(150);
    stream_reset(&rig.model.stream); /* what was read ahead is read again */
}

/* For every two layers the first sees 70 positions. */
static inline void set_window(void)
{
    struct ingot_header *h = (struct ingot_header *)(void *)rig.packed;
    struct ingot_layer *layers = (struct ingot_layer *)(void *)(rig.packed + h->layers.offset);

    for (uint32_t i = 0; i < h->params.n_layers; i += 2)
        layers[i].window = 70;
    h->layers.crc32c = crc32c(0, layers, (size_t)h->layers.bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

static const char *const kv_shapes[] = { "tiny", "untied", "tiny" };

/* Three models, one after the other: `round` gets the number of each. The last has windows. */
__attribute__((unused)) static void kv_rig_models(void (*round)(unsigned))
{
    for (unsigned i = 0; i < 3; i++)
        workers_start(&crews[i], rig_platform(), 1u << i);
    for (unsigned i = 0; i < 3; i++) {
        rig_make_model(kv_shapes[i], INGOT_Q8_0);
        if (i == 2)
            set_window();
        rig.kv = kv_both(KV_F16);
        rig.workers = &crews[0];
        rig_compute(false);
        limits = rig_limits();
        round(i);
    }
}

#endif
