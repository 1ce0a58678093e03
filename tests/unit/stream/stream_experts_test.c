/* Experts from a cache of every size: the logits equal those with everything in memory, one token at a
 * time and in chunks, with slow, wrong and broken cards; a chunk reads no expert twice; and an expert that
 * stays is not read again. */
#include "tests/unit/rig_expected.h"

enum { CHUNK = 40, REREADS = 3 };

static uint32_t text[2 * CHUNK];
static float after[2][MOST_VOCAB]; /* logits after each half of the text, undisturbed */

static const struct stream_stats *stats(void)
{
    return &rig.model.stream.stats;
}

static uint32_t slots(void)
{
    return plan_experts_slots(&rig.model.image, 0, rig.model.plan.experts.n_slots);
}

/* The first sector of an expert. */
static long sector_of(uint32_t layer, uint32_t expert)
{
    const struct ingot_layer *l = image_layer(&rig.model.image, layer);

    return (long)((rig.model.image.segments[l->segment].offset + l->expert_offset +
                   expert * l->expert_bytes) /
                  SECTOR_BYTES);
}

/* Returns the most reads of the first sector of any expert since the count was reset; *n: how many
 * were read. */
static unsigned most_reads(unsigned *n)
{
    unsigned most = 0;

    *n = 0;
    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers; i++)
        for (uint32_t j = 0; j < image_layer(&rig.model.image, i)->n_experts; j++) {
            unsigned reads = rig.reads[sector_of(i, j)];

            most = reads > most ? reads : most;
            *n += reads != 0;
        }
    return most;
}

static void forget_reads(void)
{
    memset(rig.reads, 0, RIG_MOST_BYTES / SECTOR_BYTES * sizeof *rig.reads);
}

static bool append_half(unsigned half)
{
    return rig_append(text + half * CHUNK, CHUNK, NULL) == ERR_OK &&
           memcmp(rig.session.logits, after[half], rig_logits_bytes()) == 0;
}

static void set_after(void)
{
    if (rig_start(0, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig_ids(text, 2 * CHUNK);
    for (unsigned half = 0; half < 2; half++) {
        if (rig_append(text + half * CHUNK, CHUNK, NULL) != ERR_OK)
            rig_die(rig.session.error_message);
        memcpy(after[half], rig.session.logits, rig_logits_bytes());
    }
}

/* Finds the least limits with each number of slots; 0: none has. */
static size_t limits[INGOT_MAX_EXPERTS + 1];

static void find_limits(void)
{
    size_t all = rig_limits().all;

    memset(limits, 0, sizeof limits);
    for (size_t limit = SECTOR_BYTES; limit < all; limit += SECTOR_BYTES)
        if (rig_open(limit, 0, false) == ERR_OK && limits[slots()] == 0)
            limits[slots()] = limit;
}

/* ---- every size -------------------------------------------------------------------------------- */

/* The layers give the same counts one by one and together. */
static bool layers_add_up(void)
{
    struct stream_stats sum = { 0 };

    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers; i++) {
        const struct stream_experts_figures *f = &rig.model.stream.experts.figures[i];

        sum.experts_kept += f->kept;
        sum.experts_read += f->read;
        sum.expert_stalls += f->stalls;
        sum.stall_ticks += f->stall_ticks;
        sum.expert_bytes += f->read * image_layer(&rig.model.image, i)->expert_bytes;
    }
    return sum.experts_kept == stats()->experts_kept && sum.experts_read == stats()->experts_read &&
           sum.expert_stalls == stats()->expert_stalls && sum.stall_ticks <= stats()->stall_ticks &&
           sum.expert_bytes == stats()->expert_bytes;
}

/* *read_before: experts that a smaller cache has read in the last chunk, or more. */
static void test_size(size_t limit, enum rig_pace pace, unsigned *read_before)
{
    const struct plan_memory *m = &rig.model.plan.memory;
    unsigned good = 0, n;

    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig.pace = pace;
    OK(m->pinned + m->io <= limit, "%u slots: the plan keeps to its limit", (unsigned)slots());
    for (uint32_t i = 0; i < N_TOKENS; i++)
        good += append(i);
    OK(good == N_TOKENS, "%u slots: each token has its logits", (unsigned)slots());
    (void)session_cut(&rig.session, 0);
    for (unsigned half = 0; half < 2; half++) {
        forget_reads();
        OK(append_half(half), "%u slots: chunk %u has its logits", (unsigned)slots(), half);
        OK(most_reads(&n) <= 1, "%u slots: no expert is read twice in a chunk, %u are read",
           (unsigned)slots(), n);
    }
    OK(layers_add_up() && stats()->experts_read != 0 && stats()->arrived >= stats()->expert_bytes,
       "%u slots: the figures of the layers add up, and %lu bytes of experts arrive",
       (unsigned)slots(), (unsigned long)stats()->arrived);
    OK(n <= *read_before && n + slots() >= 12,
       "%u slots: experts that the smaller cache kept were not read", (unsigned)slots());
    *read_before = n;
}

/* ---- wrong and broken cards -------------------------------------------------------------------- */

/* For the next runs; 0: as much as the device takes. */
static uint32_t request_sectors;

/* An expert of the last layer that token 2 reads. */
static uint32_t expert_of_token_2(size_t limit, uint32_t layer)
{
    uint32_t expert = 0;

    (void)rig_start(limit, 0, false);
    if (!append(0) || !append(1))
        rig_die("an undisturbed run fails");
    forget_reads();
    if (!append(2))
        rig_die("an undisturbed run fails");
    while (expert < image_layer(&rig.model.image, layer)->n_experts &&
           rig.reads[sector_of(layer, expert)] == 0)
        expert++;
    if (expert == image_layer(&rig.model.image, layer)->n_experts)
        rig_die("token 2 reads no expert there");
    return expert;
}

static enum err token_2_with(size_t limit, long flip, unsigned flips, long fails)
{
    (void)rig_start(limit, 0, false);
    if (request_sectors != 0)
        rig.fake.dev.max_sectors = request_sectors;
    if (!append(0) || !append(1))
        rig_die("an undisturbed run fails");
    rig.flip_sector = flip;
    rig.flip_times = flips;
    rig.fake.fail_sector = fails;
    rig.fake.fail_times = fails != NO_SECTOR ? 1000 : 0;
    return rig_append(&ids[2], 1, NULL);
}

static bool is_well_again(void)
{
    rig.fake.fail_times = 0;
    rig.flip_times = 0;
    return append(2) && append(3) && append(4);
}

/* A read that was requested ahead is dropped before anybody waits for it, and then has all tries
 * again. */
static void test_faults(size_t limit, uint32_t layer)
{
    unsigned fatal = rig.experts_ahead ? 2 * (REREADS + 1) : REREADS + 1;

    uint32_t expert = expert_of_token_2(limit, layer);
    long sector = sector_of(layer, expert);
    const char *said;
    char words[64];

    snprintf(words, sizeof words, "layer %u, expert %u, sector %ld", (unsigned)layer,
             (unsigned)expert, sector);
    OK(token_2_with(limit, sector, REREADS, NO_SECTOR) == ERR_OK && stats()->reread == REREADS &&
           memcmp(rig.session.logits, expected[2], rig_logits_bytes()) == 0,
       "layer %u: an expert that is wrong three times is read again, and is right", layer);
    OK(token_2_with(limit, sector, fatal, NO_SECTOR) == ERR_BAD_CHECKSUM,
       "layer %u: an expert that is wrong %u times is an error", layer, fatal);
    said = rig.session.error_message;
    OK(strstr(said, words) != NULL, "the error names the expert with the wrong bytes: %s", said);
    OK(is_well_again(), "the token after the failed read is right");
    OK(token_2_with(limit, NO_SECTOR, 0, sector) == ERR_IO,
       "layer %u: a sector that fails is an error", layer);
    OK(strstr(said, words) != NULL, "the error names the expert whose sector fails: %s", said);
    OK(is_well_again(), "the token after the failed read is right");
}

/* Hidden values are computed while the last matrix arrives, and once more where the checksum then tells that
 * the first ones were wrong. */
static void test_early(size_t limit)
{
    const struct stream_experts *x = &rig.model.stream.experts;
    uint32_t layer = rig.model.image.header->params.n_layers - 1, i = 0;
    uint32_t expert = expert_of_token_2(limit, layer);
    long sector = sector_of(layer, expert);
    enum err e;

    request_sectors = 1;
    for (unsigned flips = 0; flips <= REREADS; flips += REREADS) {
        e = token_2_with(limit, sector, flips, NO_SECTOR);
        while (i < x->n && x->list[i].expert != expert)
            i++;
        OK(e == ERR_OK && i < x->n && x->list[i].begun && x->list[i].again == (flips != 0) &&
               stats()->reread == flips &&
               memcmp(rig.session.logits, expected[2], rig_logits_bytes()) == 0,
           "an expert begins before it is whole, is wrong %u times, and is right", flips);
    }
    OK(token_2_with(limit, sector, REREADS + 1, NO_SECTOR) == ERR_BAD_CHECKSUM && is_well_again(),
       "an expert that is wrong %u times is an error, and what follows is right", REREADS + 1);
    request_sectors = 0;
}

static void test_transient(size_t limit)
{
    unsigned good = 0;

    (void)rig_start(limit, 0, false);
    rig.fail_percent = 3;
    rig.random = 1;
    good += append_half(0);
    good += append_half(1);
    for (unsigned i = 0; i < 8; i++) {
        (void)session_cut(&rig.session, 0);
        good += append_half(0);
    }
    OK(good == 10 && stats()->retries + stats()->reread > 10,
       "if 3 %% of requests fail and 3 %% are wrong, %u of 10 chunks are right, %u repeated", good,
       (unsigned)(stats()->retries + stats()->reread));
}

/* ---- looking ahead, and pins --------------------------------------------------------------------- */

/* Reading ahead changes no logits, and some of the named experts were there before. */
static void test_ahead(size_t limit, enum rig_pace pace, uint64_t *n_ahead, uint64_t *n_right)
{
    unsigned good = 0;

    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    rig.pace = pace;
    for (uint32_t i = 0; i < N_TOKENS; i++)
        good += append(i);
    (void)session_cut(&rig.session, 0);
    good += append_half(0);
    good += append_half(1);
    OK(good == N_TOKENS + 2, "%u slots, looking ahead: each token and chunk has its logits",
       (unsigned)slots());
    OK(stats()->ahead_right <= stats()->experts_ahead,
       "%u slots: %lu of %lu experts read ahead were right", (unsigned)slots(),
       (unsigned long)stats()->ahead_right, (unsigned long)stats()->experts_ahead);
    *n_ahead += stats()->experts_ahead;
    *n_right += stats()->ahead_right;
}

static unsigned count_pins(bool *all_there)
{
    unsigned n = 0;

    *all_there = true;
    for (uint32_t i = 0; i < rig.model.plan.experts.n; i++) {
        const struct stream_expert *e = &rig.model.stream.experts.all[i];

        if ((e->flags & STREAM_EXPERT_PINNED) != 0) {
            n++;
            *all_there = *all_there && e->slot != STREAM_NO_SLOT;
        }
    }
    return n;
}

/* As if those with slots had been taken the more the less they are used now: the first to go. */
static void count_the_others(void)
{
    for (uint32_t i = 0; i < rig.model.plan.experts.n; i++) {
        struct stream_expert *e = &rig.model.stream.experts.all[i];

        e->taken = e->slot == STREAM_NO_SLOT ? 0 : (1u << 20) - e->use;
    }
}

static void test_pins(size_t limit)
{
    unsigned good = 0, n;
    bool there;

    (void)rig_start(limit, 0, false);
    for (uint32_t i = 0; i < N_TOKENS; i++)
        good += append(i);
    (void)session_cut(&rig.session, 0);
    count_the_others();
    stream_experts_pin(&rig.model.stream, 2);
    (void)count_pins(&there);
    for (uint32_t i = 0; i < N_TOKENS && there; i++) {
        good += append(i);
        (void)count_pins(&there);
    }
    n = count_pins(&there);
    OK(good == 2 * N_TOKENS && there && n == 2 * rig.model.image.header->params.n_layers,
       "%u pins keep their slots, and the logits are right", n);
    (void)rig_start(limits[3], 0, false);
    (void)append(0);
    stream_experts_pin(&rig.model.stream, 2);
    OK(count_pins(&there) == 0, "if a token's experts take all slots, none is pinned");
}

int main(void)
{
    unsigned n = 0, read_before = UINT32_MAX;
    uint64_t ahead = 0, right = 0;

    rig_alone();
    rig_compute(false);
    rig_make_model("experts", INGOT_Q8_0);
    set_expected();
    set_after();
    find_limits();
    for (uint32_t i = 1; i <= INGOT_MAX_EXPERTS; i++) {
        if (limits[i] == 0)
            continue;
        test_size(limits[i], i % 2 == 0 ? RIG_SLOW : RIG_STEADY, &read_before);
        n++;
    }
    OK(n == 9 && limits[3] != 0 && read_before < 6,
       "caches of every size from a token's experts on work: %u sizes", n);
    test_faults(limits[3], 0);
    test_faults(limits[3], 2);
    test_faults(limits[5], 1);
    test_early(limits[3]);
    test_transient(limits[4]);
    test_pins(limits[6]);
    rig.experts_ahead = true;
    n = 0;
    for (uint32_t i = 1; i <= INGOT_MAX_EXPERTS; i++)
        if (limits[i] != 0)
            test_ahead(limits[i], i % 2 == 0 ? RIG_SLOW : RIG_STEADY, &ahead, &right);
    OK(ahead > 20 && right > 0, "%lu experts are read ahead, %lu rightly", (unsigned long)ahead,
       (unsigned long)right);
    test_faults(limits[3], 0);
    test_faults(limits[5], 2);
    test_transient(limits[4]);
    return tap_done();
}
