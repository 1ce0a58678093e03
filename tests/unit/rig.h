/* A model and a session over a made-up file on a block device that misbehaves when told to; the
 * runtime's tests share it. A rig is one static struct; rig_open again starts over. */
#ifndef INGOT_TESTS_UNIT_RIG_H
#define INGOT_TESTS_UNIT_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "board/host/host_cpu.h"
#include "board/host/host_platform.h"
#include "flash_image/pack/pack.h"
#include "runtime/session/session_sequence.h"
#include "runtime/base/crc32c.h"
#include "runtime/features/fabric/fabric.h"
#include "runtime/features/lessons/lessons.h"
#include "runtime/features/policy/experience.h"
#include "tests/unit/storage/fake_block.h"
#include "tests/unit/tap.h"

enum { RIG_RAM = 24 << 20, RIG_MOST_BYTES = 8 << 20, RIG_FLIPPED_BYTE = 77 };

enum rig_pace {
    RIG_STEADY,  /* one request a poll */
    RIG_INSTANT, /* done when it is submitted */
    RIG_SLOW,    /* one request takes 12 polls, more than a layer has steps */
};

static struct rig {
    uint8_t *packed; /* the .ingot, whole */
    size_t packed_bytes;
    struct fake_block fake;
    enum rig_pace pace;
    unsigned n_polls;
    uint16_t *reads;       /* of each sector */
    long flip_sector;      /* arrives with a flipped bit ... */
    unsigned flip_times;   /* ... so often */
    unsigned fail_percent; /* one request in so many fails, and as many arrive with a flipped bit */
    uint32_t random;       /* which ones */
    struct block_device
        *device;       /* the device of the next rig_open, in place of the fake one; or NULL */
    uint64_t patience; /* polls until it counts as silent; 0: hardly ever */
    struct file file;
    struct kernels kernels;
    struct workers *workers;
    const struct signing *signing; /* limit of the next rig_open */
    struct model_setup setup;
    struct model model;
    struct session session;
    uint8_t *ram;
    enum model_guesses guesses; /* limit of the next rig_open */
    bool experts_ahead;         /* limit of the next rig_open */
    uint32_t kept_sequences;    /* sessions over the next one, ... */
    size_t line_bytes;          /* ... with so many bytes for a chat */
    struct kv_types kv;
    bool learns;        /* lessons have room, */
    bool watches;       /* and a policy */
    uint32_t sequences; /* sequences of the next rig_open, side by side */
    uint32_t features;  /* the kernels that compute; the logits are the same bits */
} rig;

/* References where the sanitizers watch them; this CPU's own kernels in `make test`, where
 * references would take most of a long test's time. */
__attribute__((unused)) static void rig_compute(bool watched)
{
    const char *all = getenv("INGOT_LONG");

    rig.features = watched || (all != NULL && strcmp(all, "1") == 0) ? CPU_ANY
                                                                     : host_cpu_features();
}

__attribute__((noreturn, unused)) static void rig_die(const char *why)
{
    printf("Bail out! %s\n", why);
    exit(1);
}

__attribute__((unused)) static void rig_make_model(const char *shape, enum ingot_type type)
{
    const char *base = getenv("TMPDIR");
    char path[256], error_message[256];
    struct pack_options o = {
        .input = shape, .output = path, .type = type, .type_given = true, .quiet = true
    };
    FILE *in;

    snprintf(path, sizeof path, "%s/ingot-rig-%ld.ingot", base != NULL ? base : "/tmp",
             (long)getpid());
    if (pack_synth(&o, 1, error_message, sizeof error_message) != ERR_OK)
        rig_die(error_message);
    in = fopen(path, "rb");
    if (in == NULL)
        rig_die("the made-up model cannot be opened");
    free(rig.packed);
    rig.packed = aligned_alloc(4096, RIG_MOST_BYTES);
    if (rig.packed == NULL)
        rig_die("no memory");
    rig.packed_bytes = fread(rig.packed, 1, RIG_MOST_BYTES, in);
    fclose(in);
    unlink(path);
    free(rig.reads);
    rig.reads = calloc(RIG_MOST_BYTES / SECTOR_BYTES, sizeof *rig.reads);
}

static void rig_sector(uint64_t sector, uint8_t *out)
{
    memcpy(out, rig.packed + sector * SECTOR_BYTES, SECTOR_BYTES);
    rig.reads[sector]++;
    if ((long)sector == rig.flip_sector && rig.flip_times > 0) {
        rig.flip_times--;
        out[RIG_FLIPPED_BYTE] ^= 0x10;
    }
}

static enum err rig_submit(struct block_device *dev, struct block_request *r)
{
    enum err e = fake_submit(dev, r);

    while (e == ERR_OK && rig.pace == RIG_INSTANT && rig.fake.n_pending > 0)
        fake_poll(dev);
    return e;
}

static enum err rig_poll(struct block_device *dev)
{
    rig.n_polls++;
    if (rig.fail_percent != 0 && rig.fake.n_pending > 0) {
        rig.random = rig.random * 1664525u + 1013904223u;
        rig.fake.fail_sector = rig.flip_sector = (long)rig.fake.pending[0]->sector;
        rig.fake.fail_times = (rig.random >> 8) % 100 < rig.fail_percent;
        rig.flip_times = (rig.random >> 8) % 100 >= 100 - rig.fail_percent;
    }
    return rig.pace == RIG_SLOW && rig.n_polls % 12 != 0 ? ERR_OK : fake_poll(dev);
}

static uint64_t rig_time;
static uint64_t rig_ticks(void)
{
    return ++rig_time;
}

/* Time passes with each look at the clock, and there is no other device. */
static uint64_t rig_file_ticks(void *context)
{
    (void)context;
    return rig_ticks();
}

/* Bytes for ARENA_LEARN, as the features ask for them. */
static size_t rig_learn_bytes(void *context, const struct image *image)
{
    uint32_t dim = image->header->params.dim;
    uint32_t cols = image_tensor(image, INGOT_OUTPUT, INGOT_NO_LAYER)->cols_padded;
    size_t bytes = 0;

    (void)context;
    if (rig.learns)
        bytes = arena_take_bytes(lessons_bytes(dim, cols, LESSONS_LEAST_ROOM)) +
                arena_take_bytes(fabric_bytes(dim, fabric_plan_room(dim, 0)));
    if (rig.watches)
        bytes += arena_take_bytes(experience_bytes(dim));
    return bytes;
}

/* A model that is opened and not loaded. limit: mem=, 0 for none. */
__attribute__((unused)) static enum err rig_open(size_t limit, uint32_t chunk, bool in_place)
{
    static const struct platform platform = { .clock = { .ticks = rig_file_ticks, .hz = 1000 } };
    struct file_timeout timeout = { &platform, rig.patience != 0 ? rig.patience : 1u << 30 };
    struct block_device *device = rig.device != NULL ? rig.device : &rig.fake.dev;

    fake_init(&rig.fake, NULL, rig.packed_bytes / SECTOR_BYTES);
    rig.fake.make = rig_sector;
    rig.fake.dev.submit = rig_submit;
    rig.fake.dev.poll = rig_poll;
    rig.fake.dev.memory = in_place ? rig.packed : NULL;
    rig.flip_sector = NO_SECTOR;
    rig.flip_times = 0;
    rig.fail_percent = 0;
    rig.pace = RIG_STEADY;
    memset(rig.reads, 0, RIG_MOST_BYTES / SECTOR_BYTES * sizeof *rig.reads);
    if (file_open_device(&rig.file, device, rig.packed_bytes, &timeout) != ERR_OK)
        rig_die("the fake device does not open");
    file_set_name(&rig.file, "models/made-up.ingot");
    kernels_select(&rig.kernels, host_cpu_features());
    crc32c_use(&rig.kernels); /* bit by bit it would take most of a test's time */
    kernels_select(&rig.kernels, rig.features);
    if (rig.ram == NULL)
        rig.ram = aligned_alloc(4096, RIG_RAM);
    rig.setup = (struct model_setup){ .ram = { rig.ram, RIG_RAM },
                                      .file = &rig.file,
                                      .workers = rig.workers,
                                      .kernels = &rig.kernels,
                                      .signing = rig.signing,
                                      .limits.weights = limit,
                                      .limits.chunk = chunk,
                                      .limits.kv = rig.kv,
                                      .experts_ahead = rig.experts_ahead,
                                      .guesses = rig.guesses,
                                      .learn_bytes = rig_learn_bytes,
                                      .sequences = rig.sequences,
                                      .sequence_bytes = session_bytes,
                                      .kept_sequences = rig.kept_sequences,
                                      .line_bytes = rig.line_bytes,
                                      .kept_bytes = session_sequences_bytes };
    return model_open(&rig.model, &rig.setup);
}

/* Loads the open model, and begins an empty session over it. */
__attribute__((unused)) static enum err rig_load(void)
{
    enum err e = model_load(&rig.model, &rig.setup);

    if (e == ERR_OK)
        session_open(&rig.session, &rig.model, &rig.setup);
    return e;
}

__attribute__((unused)) static enum err rig_start(size_t limit, uint32_t chunk, bool in_place)
{
    enum err e = rig_open(limit, chunk, in_place);

    return e == ERR_OK ? rig_load() : e;
}

/* Runs session_append of n tokens after the cached ones; pending tokens of a failed append are
 * dropped. */
__attribute__((unused)) static enum err rig_append(const uint32_t *ids, size_t n,
                                                   const struct stop *stop)
{
    if (rig.session.n_ids != rig.session.n_cached)
        (void)session_cut(&rig.session, rig.session.n_cached);
    return session_append(&rig.session, ids, n, stop);
}

/* The limits at which a plan takes each of its forms. */
struct rig_limits {
    size_t least;   /* two slots; everything else streams, with the head in tiles */
    size_t part;    /* as much of it stays as is usual beside tiles */
    size_t untiled; /* two slots and the head */
    size_t all;     /* everything */
};

__attribute__((unused)) static struct rig_limits rig_limits(void)
{
    struct rig_limits l = { 0 };
    uint32_t rows = 0;

    for (size_t limit = SECTOR_BYTES; l.all == 0; limit += SECTOR_BYTES) {
        if (rig_open(limit, 0, false) != ERR_OK)
            continue;
        if (l.least == 0)
            l.least = limit;
        if (rig.model.plan.head.first_row > rows) {
            rows = rig.model.plan.head.first_row;
            l.part = limit;
        }
        if (l.untiled == 0 && !rig.model.plan.head.tiled)
            l.untiled = limit;
        if (rig.model.plan.residency == PLAN_RESIDENT)
            l.all = limit;
    }
    return l;
}

/* Makes the ids of a text, always the same ones; 3 .. vocab-1. */
__attribute__((unused)) static void rig_ids(uint32_t *ids, size_t n)
{
    uint32_t random = 7;

    for (size_t i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        ids[i] = 3 + (random >> 8) % (rig.model.image.header->params.vocab - 3);
    }
}

__attribute__((unused)) static size_t rig_logits_bytes(void)
{
    return rig.model.image.header->params.vocab * sizeof(float);
}

/* The computer on which the test runs. */
__attribute__((unused)) static const struct platform *rig_platform(void)
{
    static struct platform platform;

    if (platform.name == NULL)
        host_platform(&platform, NULL);
    return &platform;
}

/* One core that is this thread, for tests where cores do not matter. */
__attribute__((unused)) static void rig_alone(void)
{
    static struct workers workers;

    workers_start(&workers, rig_platform(), 1);
    rig.workers = &workers;
}

#endif
