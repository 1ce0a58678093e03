/* How often a wrong checksum is read again; and a later piece of a layer that fails after some of
 * the layer was computed: no trace of that is left when the card is well again. */
#include "tests/unit/stream/places_rig.h"

/* ---- read again ----------------------------------------------------------------------------- */

enum { REREADS = 3 }; /* of one part, as the documents say */

/* The place arrives wrong n times from token 2 on. Returns the first error, or whether all logits
 * are right. */
static enum err flip(const struct place *p, size_t mem, unsigned n)
{
    rig_start(mem, 0, false);
    if (!append(0) || !append(1))
        rig_die("an undisturbed run fails");
    rig.flip_sector = p->sector;
    rig.flip_times = n;
    for (uint32_t i = 2; i < N_TOKENS; i++) {
        enum err e = rig_append(&ids[i], 1, NULL);

        if (e != ERR_OK)
            return e;
        if (memcmp(rig.session.logits, expected[i], rig_logits_bytes()) != 0)
            return ERR_BAD_MODEL;
    }
    return ERR_OK;
}

static void test_rereads(size_t mem, const char *form)
{
    const struct stream_stats *f = &rig.model.stream.stats;
    struct place places[16];
    unsigned n;

    rig_start(mem, 0, false);
    n = streamed_places(places);
    for (unsigned i = 0; i < n; i++) {
        if (!places[i].flips)
            continue;
        OK(flip(&places[i], mem, REREADS) == ERR_OK && f->reread == REREADS && rig.flip_times == 0,
           "%s, %s is read again three times if it is wrong three times, and is right", form,
           places[i].name);
        OK(flip(&places[i], mem, REREADS + 1) == ERR_BAD_CHECKSUM && f->reread == REREADS &&
               rig.flip_times == 0,
           "%s, %s that is wrong four times is an error after the third try", form, places[i].name);
    }
}

/* ---- a piece that does not come ------------------------------------------------------------- */

static size_t limit; /* two slots */

/* The sector with the last byte that a phase of the layer needs. */
static long last_sector(uint32_t layer, unsigned phase)
{
    const struct image *image = &rig.model.image;
    uint64_t at = image->segments[layer + 1].offset;

    return (long)((at + image_phase_end(image, layer, phase) - 1) / SECTOR_BYTES);
}

/* The next pass has each layer whole before it begins it, so that nobody waits for its pieces, and
 * nobody resets what the error has left. */
static bool is_right_afterwards(uint32_t layer, unsigned phase, enum rig_pace pace)
{
    rig_start(limit, 0, false);
    rig.pace = RIG_SLOW;
    rig.fake.dev.max_sectors = 4;
    if (!append(0))
        return false;
    rig.fake.fail_sector = last_sector(layer, phase);
    rig.fake.fail_times = 1000;
    if (rig_append(&ids[1], 1, NULL) != ERR_IO)
        return false;
    rig.fake.fail_times = 0;
    rig.pace = pace;
    rig.fake.dev.max_sectors = 64; /* with RIG_INSTANT a layer is there at the first look */
    return append(1) && append(2);
}

static void test_pieces(uint32_t layer)
{
    unsigned good = 0, n = 0;

    for (unsigned phase = 1; phase < INGOT_PHASES; phase++, n++)
        good += is_right_afterwards(layer, phase, RIG_INSTANT) &&
                is_right_afterwards(layer, phase, RIG_SLOW);
    OK(good == n, "a later piece of layer %u fails and then comes: %u of %u are right after that",
       layer, good, n);
}

int main(void)
{
    struct rig_limits limits;

    rig_alone();
    rig_compute(false);
    rig_make_model("tiny", INGOT_Q8_0);
    set_expected();
    limits = rig_limits();
    limit = limits.least;
    test_rereads(limits.least, "least");
    test_rereads(limits.untiled, "head pinned");
    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers; i++)
        test_pieces(i);
    rig_make_model("untied", INGOT_Q8_0); /* rows of the embedding stream, beside the head */
    set_expected();
    test_rereads(rig_limits().least, "untied");
    return tap_done();
}
