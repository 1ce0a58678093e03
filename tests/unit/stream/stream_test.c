/* Weights through two slots: which are read, how often, ahead of what, and the behaviour when the
 * card fails at any possible place. */
#include "runtime/stream/stream.h"

#include "tests/unit/stream/places_rig.h"

static const char *const shapes[] = { "tiny", "untied" };
static const enum ingot_type types[] = { INGOT_F32, INGOT_Q8_0, INGOT_Q4_0 };

static uint64_t sectors_read(void)
{
    uint64_t n = 0;

    for (uint64_t i = 0; i < rig.packed_bytes / SECTOR_BYTES; i++)
        n += rig.reads[i];
    return n;
}

/* Returns how often the sectors of a segment were read: the least and the most. */
static void segment_reads(uint32_t segment, unsigned *least, unsigned *most)
{
    const struct ingot_segment *x = &rig.model.image.segments[segment];

    *least = 65535;
    *most = 0;
    for (uint64_t s = x->offset / SECTOR_BYTES; s < (x->offset + x->bytes) / SECTOR_BYTES; s++) {
        *least = rig.reads[s] < *least ? rig.reads[s] : *least;
        *most = rig.reads[s] > *most ? rig.reads[s] : *most;
    }
}

/* Requests already made for units that nobody has used. */
static uint64_t sectors_ahead(void)
{
    uint64_t n = 0;

    stream_reset(&rig.model.stream); /* waits for them */
    for (int i = 0; i < PLAN_SLOTS; i++)
        n += rig.model.stream.ring.slots[i].read.bytes / SECTOR_BYTES;
    return n;
}

static bool pinned_once(void)
{
    uint32_t n = rig.model.image.header->params.n_layers;

    for (uint32_t i = 0; i < n + 2; i++) {
        unsigned least, most;

        segment_reads(i, &least, &most);
        if (rig.model.plan.pinned[i] && (least != 1 || most != 1))
            return false;
    }
    return true;
}

static void test_figures(size_t limit, const char *form)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    uint64_t planned, at_load, rows;
    bool equal = true, exact = true;

    if (!OK(rig_start(limit, 0, false) == ERR_OK, "%s: the model loads with mem=%d", form,
            (int)limit))
        return;
    planned = model_planned_bytes(&rig.model);
    at_load = sectors_read();
    for (uint32_t i = 0; i < N_TOKENS; i++) {
        uint64_t before = f->bytes_streamed;

        equal = append(i) && equal;
        exact = exact && f->bytes_streamed - before == planned;
    }
    rows = f->rows_read * rig.model.plan.rows.bytes / SECTOR_BYTES;
    OK(f->rows_read + f->rows_kept == (rig.model.plan.rows.n != 0 ? N_TOKENS : 0),
       "%s: %d embedding rows are read, and %d are kept", form, (int)f->rows_read,
       (int)f->rows_kept);
    OK(equal, "%s: the logits are those of the weights in memory", form);
    OK(exact, "%s: every token reads the %d bytes planned", form, (int)planned);
    OK(pinned_once(), "%s: pinned layers were read once", form);
    OK(f->retries == 0 && f->reread == 0, "%s: nothing is read twice", form);
    for (int i = 0; i < PLAN_SLOTS; i++) { /* only the reads that are ahead count below */
        if (rig.model.stream.ring.slots[i].state != STREAM_LOADING)
            rig.model.stream.ring.slots[i].read.bytes = 0;
    }
    uint64_t ahead = sectors_ahead();
    OK(sectors_read() - at_load == N_TOKENS * planned / SECTOR_BYTES + rows + ahead,
       "%s: the card delivers these and %d sectors ahead, no more", form, (int)ahead);
}

static void test_in_place(void)
{
    bool equal = true;

    OK(rig_start(0, 0, true) == ERR_OK && rig.model.plan.residency == PLAN_IN_PLACE,
       "the model is used in place");
    for (uint32_t i = 0; i < N_TOKENS; i++)
        equal = append(i) && equal;
    OK(equal && sectors_read() == 0 && model_planned_bytes(&rig.model) == 0,
       "a model in place has the same logits, and not a sector is copied");
    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers + 2; i++) {
        uint8_t *byte = rig.packed + rig.model.image.segments[i].offset + 1000;
        char part[32];

        image_segment_name(&rig.model.image, i, part, sizeof part);
        *byte ^= 1;
        OK(rig_start(0, 0, true) == ERR_BAD_CHECKSUM &&
               strstr(rig.model.error_message, part) != NULL,
           "a wrong bit of a model in place is found: %s", rig.model.error_message);
        *byte ^= 1;
    }
}

/* The next unit is on its way while this one is in use. */
static void test_ahead(size_t limit)
{
    struct stream *s = &rig.model.stream;
    uint32_t n;
    bool ahead = true;

    rig_start(limit, 0, false);
    n = rig.model.image.header->params.n_layers;
    rig.pace = RIG_SLOW; /* so that what was asked for is still in flight */
    for (int pass = 0; pass < 3; pass++) {
        stream_begin(s, false);
        for (uint32_t layer = 0; layer < n; layer++) {
            const uint8_t *segment;
            unsigned loading = 0;

            if (stream_layer(s, layer, UINT64_MAX, &segment) != ERR_OK)
                rig_die(s->error_message);
            for (int i = 0; i < PLAN_SLOTS; i++)
                loading += s->ring.slots[i].state == STREAM_LOADING;
            ahead = ahead &&
                    (s->segments[layer + 1] != NULL || (loading == 1 && rig.fake.n_pending > 0));
            stream_layer_done(s, layer);
        }
    }
    OK(ahead, "whenever a layer is handed over, the next one is in flight, across passes too");
    stream_reset(s);
    OK(rig.fake.n_pending == 0, "a reset leaves nothing in flight");
}

/* Fails at token 2; the cache stays, and the same session continues as if nothing had happened. */
static void test_failure(const struct place *p, bool flip, const char *form)
{
    struct session *s = &rig.session;
    enum err error;

    if (flip) {
        rig.flip_sector = p->sector;
        rig.flip_times = 1000;
    } else {
        rig.fake.fail_sector = p->sector;
        rig.fake.fail_times = 1000;
    }
    error = rig_append(&ids[2], 1, NULL);
    if (error == ERR_OK) { /* this pass's unit was there already: the next one meets the fault */
        (void)session_cut(s, s->n_cached - 1);
        error = rig_append(&ids[2], 1, NULL);
    }
    OK(error == (flip ? ERR_BAD_CHECKSUM : ERR_IO) && s->n_cached == 2 && s->logits == NULL &&
           rig.fake.n_pending == 0,
       "%s, %s %s: the error is %d, and the cache keeps 2 tokens", form,
       flip ? "flipped" : "failing", p->name, error);
    OK(strstr(s->error_message, "models/made-up.ingot: ") == s->error_message &&
           strstr(s->error_message, p->name) != NULL &&
           (flip || strstr(s->error_message, "sector ") != NULL),
       "the error names the file and its part: %s", s->error_message);
    rig.fake.fail_times = 0;
    rig.flip_times = 0;
}

static void test_failures(size_t limit, const char *form)
{
    struct place places[16];
    unsigned n;

    rig_start(limit, 0, false);
    n = streamed_places(places);
    for (unsigned i = 0; i < 2 * n; i++) {
        const struct place *p = &places[i / 2];
        bool equal, flip = i % 2 != 0;

        if (flip && !p->flips)
            continue;
        rig_start(limit, 0, false);
        equal = append(0) && append(1);
        test_failure(p, flip, form);
        for (uint32_t j = 2; j < N_TOKENS; j++)
            equal = append(j) && equal;
        OK(equal, "%s: the logits are those of an undisturbed run when the card is well again",
           form);
    }
}

/* Faults that pass: they are tried again, and only the counters show them. */
static void test_transient(size_t limit, const char *form)
{
    struct place places[16];
    unsigned n;

    rig_start(limit, 0, false);
    n = streamed_places(places);
    for (unsigned i = 0; i < n; i++) {
        bool equal;

        rig_start(limit, 0, false);
        rig.fake.fail_sector = places[i].sector;
        equal = append(0) && append(1);
        rig.fake.fail_times = 2;
        for (uint32_t j = 2; j < N_TOKENS; j++)
            equal = append(j) && equal;
        OK(equal && rig.model.stream.stats.retries == 2,
           "%s, %s that fails twice is read with %d retries", form, places[i].name,
           (int)rig.model.stream.stats.retries);
        if (!places[i].flips)
            continue;
        rig_start(limit, 0, false);
        equal = append(0) && append(1);
        rig.flip_sector = places[i].sector;
        rig.flip_times = 1;
        for (uint32_t j = 2; j < N_TOKENS; j++)
            equal = append(j) && equal;
        OK(equal && rig.model.stream.stats.reread == 1 && rig.flip_times == 0,
           "%s, a bit of %s that flips on the way is read again, %d times", form, places[i].name,
           (int)rig.model.stream.stats.reread);
    }
}

/* Every segment that loading reads fails, has a flipped bit for good, and has one once. */
static void test_load(size_t limit, const char *form)
{
    uint32_t n;

    rig_start(limit, 0, false);
    n = rig.model.image.header->params.n_layers + 2;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t sector = rig.model.image.segments[i].offset / SECTOR_BYTES + 3;
        bool read = rig.model.plan.pinned[i] || i == 0 || i == n - 1;
        char part[32];

        image_segment_name(&rig.model.image, i, part, sizeof part);
        rig_open(limit, 0, false);
        rig.fake.fail_sector = (long)sector;
        rig.fake.fail_times = 1000;
        enum err e = model_load(&rig.model, &rig.setup);
        OK(read ? e == ERR_IO && strstr(rig.model.error_message, part) != NULL &&
                      strstr(rig.model.error_message, "sector ") != NULL
                : e == ERR_OK,
           "%s, %s that fails while it is loaded is reported: %s", form, part,
           read ? rig.model.error_message : "not read");
        for (unsigned times = 1; times <= 2; times++) {
            rig_open(limit, 0, false);
            rig.flip_sector = (long)sector;
            rig.flip_times = times;
            e = model_load(&rig.model, &rig.setup);
            OK(e == (read && times == 2 ? ERR_BAD_CHECKSUM : ERR_OK) &&
                   rig.model.stream.stats.reread == (read ? 1 : 0) &&
                   (e == ERR_OK || strstr(rig.model.error_message, part) != NULL),
               "%s, %s that flips %s while it is loaded has its result: %s", form, part,
               times == 1 ? "once" : "for good", e == ERR_OK ? "fine" : rig.model.error_message);
        }
    }
}

/* The largest request for which a layer takes n polls even of a card that answers at once. */
static uint32_t sectors_for_polls(uint64_t n)
{
    uint64_t sectors = rig.model.image.segments[1].bytes / SECTOR_BYTES / FAKE_WANTED / n;

    return sectors > 0 ? (uint32_t)sectors : 1;
}

static void test_stalls(size_t limit)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    uint64_t units;
    bool equal = true;

    rig_start(limit, 0, false);
    rig.pace = RIG_INSTANT;
    rig.fake.dev.max_sectors = sectors_for_polls(
        6); /* no more than a layer has looks at the card */
    for (uint32_t i = 0; i < N_TOKENS; i++)
        equal = append(i) && equal;
    OK(equal && f->stalls <= 1 && f->stalls == f->first_stalls,
       "a card faster than the cores has %d stalls, %d of them at the first unit", (int)f->stalls,
       (int)f->first_stalls);
    rig.fake.fail_times = 1000;
    rig.fake.fail_sector = (long)(rig.model.image.segments[2].offset / SECTOR_BYTES);
    (void)session_cut(&rig.session, 3);
    while (rig_append(&ids[3], 1, NULL) == ERR_OK)
        (void)session_cut(&rig.session, 3);
    rig.fake.fail_times = 0;
    for (uint32_t i = 3; i < N_TOKENS; i++)
        equal = append(i) && equal;
    OK(equal && f->stalls <= 4 && f->first_stalls <= 2,
       "the first unit may wait again after a failure: %d stalls, %d at the first", (int)f->stalls,
       (int)f->first_stalls);

    rig_start(limit, 0, false);
    rig.pace = RIG_SLOW;
    rig.fake.dev.max_sectors = sectors_for_polls(6);
    for (uint32_t i = 0; i < N_TOKENS; i++)
        equal = append(i) && equal;
    units = N_TOKENS * (rig.model.plan.layers.n_streamed + rig.model.plan.head.n_tiles);
    /* If an embedding row is read first, a layer may have come meanwhile. */
    OK(equal && f->stalls <= units && f->stalls + N_TOKENS >= units && f->first_stalls <= 1 &&
           f->stall_ticks > 100 * units,
       "a slow card makes %d of %d units stall, for %d ticks", (int)f->stalls, (int)units,
       (int)f->stall_ticks);
}

/* The last sector of a layer, or of the head. */
static long last_sector(uint32_t segment)
{
    const struct ingot_segment *x = &rig.model.image.segments[segment];

    return (long)((x->offset + x->bytes) / SECTOR_BYTES - 1);
}

static void start_slowly(size_t limit)
{
    rig_start(limit, 0, false);
    rig.pace = RIG_SLOW;
    rig.fake.dev.max_sectors = 4;
}

/* With a slow card a layer begins before it is whole. Its damage shows when some of it was computed
 * already: a bit flipped on the way changes no logit, and an error undoes it. */
static void test_early(size_t limit, const char *form)
{
    struct stream *s = &rig.model.stream;
    uint32_t layer = 0;
    const uint8_t *segment;
    bool equal;

    start_slowly(limit);
    while (rig.model.plan.pinned[layer + 1])
        layer++;
    stream_begin(s, false);
    for (uint32_t i = 0; i < layer; i++)
        (void)stream_layer(s, i, 0, &segment);
    OK(stream_layer(s, layer, image_phase_end(s->image, layer, 0), &segment) == ERR_OK &&
           s->now.early != NULL && s->now.early->read.bytes_done < s->now.early->read.bytes &&
           s->now.early->read.bytes_done >= image_phase_end(s->image, layer, 0),
       "%s: layer %u is handed over when %d of %d bytes are there", form, layer,
       (int)s->now.early->read.bytes_done, (int)s->now.early->read.bytes);
    stream_reset(s);
    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers; i++) {
        if (rig.model.plan.pinned[i + 1])
            continue;
        start_slowly(limit);
        rig.flip_sector = last_sector(i + 1);
        equal = append(0) && append(1);
        for (uint32_t j = 2; j < N_TOKENS; j++) {
            rig.flip_times = 1;
            equal = append(j) && equal;
        }
        OK(equal && rig.model.stream.stats.reread >= N_TOKENS - 2,
           "%s: the end of layer %u flips in every token, is read %d times again, and is right",
           form, i, (int)rig.model.stream.stats.reread);
        for (int flip = 0; flip < 2; flip++) {
            struct place p = { "", last_sector(i + 1), false, true };

            start_slowly(limit);
            image_segment_name(&rig.model.image, i + 1, p.name, sizeof p.name);
            equal = append(0) && append(1);
            test_failure(&p, flip != 0, form);
            for (uint32_t j = 2; j < N_TOKENS; j++)
                equal = append(j) && equal;
            OK(equal, "%s: the logits are the same after the end of a layer was %s", form,
               flip ? "flipped" : "failing");
        }
    }
}

static void test_model(const char *shape, enum ingot_type type)
{
    struct rig_limits l;
    static const char *const forms[] = { "least", "a part of the head", "head pinned",
                                         "a sector short", "resident" };

    printf("# %s, %s\n", shape, image_type_name(type));
    rig_make_model(shape, type);
    l = rig_limits();
    set_expected();
    for (int i = 0; i < 5; i++) {
        size_t limits[] = { l.least, l.part, l.untiled, l.all - SECTOR_BYTES, l.all };

        test_figures(limits[i], forms[i]);
        test_failures(limits[i], forms[i]);
        test_transient(limits[i], forms[i]);
        test_load(limits[i], forms[i]);
    }
    test_in_place();
    test_ahead(l.least);
    test_ahead(l.untiled);
    test_early(l.least, "least");
    test_early(l.untiled, "head pinned");
    test_stalls(l.untiled);
}

/* All cores check the arrived bytes, each a part; core 0 has jobs for layers and head as well. */
static void test_parts(const struct workers *workers, size_t limit)
{
    const struct ingot_segment *x;
    uint32_t first = 0, jobs = 0, wanted;
    bool equal;

    rig_start(limit, 0, false);
    rig.pace = RIG_INSTANT;
    wanted = rig.model.image.header->params.n_layers + 1 + rig.model.plan.layers.n_streamed;
    equal = append(0);
    /* On a busy computer a core that leaves or comes back (contention.h) takes a job of its own. */
    for (int tries = 0; tries < 10 && equal && jobs != wanted; tries++) {
        uint32_t before = workers->job;

        (void)session_cut(&rig.session, 1);
        equal = append(1);
        jobs = workers->job - before;
    }
    OK(equal && jobs == wanted, "%u cores: a token takes %u jobs", workers->n_cores, jobs);
    while (rig.model.plan.pinned[first + 1])
        first++;
    x = &rig.model.image.segments[first + 1];
    for (unsigned i = 0; i < workers->n_cores; i++) {
        struct stream_stats *f = &rig.model.stream.stats;
        uint64_t reread = f->reread;

        rig.flip_sector = (long)((x->offset + x->bytes * (2 * i + 1) / (2 * workers->n_cores)) /
                                 SECTOR_BYTES);
        rig.flip_times = 1; /* in the next token's bytes, which come while this one is computed */
        OK(append(2 + i) && append(3 + i) && f->reread == reread + 1,
           "a layer is read again if a bit flips in the part of core %u", i);
        (void)session_cut(&rig.session, 3 + i);
    }
}

/* Starts cores of its own, so that an error in the middle of a layer finds some at a barrier. */
static void test_cores(void)
{
    static struct workers workers;

    workers_start(&workers, rig_platform(), 3);
    rig.workers = &workers;
    printf("# with %u cores\n", workers.n_cores);
    rig_make_model("tiny", INGOT_Q8_0);
    struct rig_limits l = rig_limits();
    set_expected();
    test_early(l.least, "3 cores");
    test_failures(l.untiled, "3 cores");
    rig_make_model("untied", INGOT_F32);
    l = rig_limits();
    set_expected();
    test_parts(&workers, l.untiled);
    test_early(l.untiled, "3 cores, large layers");
    test_figures(l.least, "3 cores, tiles");
    test_failures(l.least, "3 cores, tiles");
}

int main(void)
{
    rig_alone();
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < 3; j++)
            test_model(shapes[i], types[j]);
    }
    test_cores();
    return tap_done();
}
