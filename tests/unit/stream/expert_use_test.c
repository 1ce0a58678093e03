/* Counts of use: what one cache counts is what a cache of any size does with the same text; and the
 * file that keeps them, with lost power and wrong bits anywhere. */
#include "runtime/stream/expert_use.h"

#include "tests/unit/rig_expected.h"

enum { FILE_BYTES = 64 * SECTOR_BYTES, MOST = 12 };

static struct expert_use use;
static struct plan_use found;
static struct fake_block card;
static _Alignas(64) uint8_t card_data[FILE_BYTES];
static struct file file;
static size_t limits[INGOT_MAX_EXPERTS + 1]; /* the least limit with so many slots; 0: none has */

static struct stream_experts *experts(void)
{
    return &rig.model.stream.experts;
}

static uint32_t n_experts(void)
{
    return rig.model.plan.experts.n;
}

static uint32_t slots(void)
{
    return plan_experts_slots(&rig.model.image, 0, rig.model.plan.experts.n_slots);
}

static void find_limits(void)
{
    size_t all = rig_limits().all;

    for (size_t limit = SECTOR_BYTES; limit < all; limit += SECTOR_BYTES)
        if (rig_open(limit, 0, false) == ERR_OK && limits[slots()] == 0)
            limits[slots()] = limit;
}

/* ---- what is counted ---------------------------------------------------------------------------- */

/* The text, token by token. */
static void run(size_t limit)
{
    if (rig_start(limit, 0, false) != ERR_OK)
        rig_die(rig.model.error_message);
    for (uint32_t i = 0; i < N_TOKENS; i++)
        if (!append(i))
            rig_die("an undisturbed run fails");
}

/* Returns how often a cache of n slots would have had it, by the counts. */
static uint64_t predicted(uint32_t n)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < rig.model.image.header->params.n_layers; i++) {
        const struct ingot_layer *l = image_layer(&rig.model.image, i);

        for (uint32_t j = 0; j < n && j < l->n_experts; j++)
            sum += experts()->all[l->first_expert + j].found;
    }
    return sum;
}

static void test_every_size(void)
{
    uint64_t told[INGOT_MAX_EXPERTS + 1];
    unsigned sizes = 0, wrong = 0;

    run(limits[4]);
    for (uint32_t n = 0; n <= INGOT_MAX_EXPERTS; n++)
        told[n] = predicted(n);
    for (uint32_t n = 1; n <= INGOT_MAX_EXPERTS; n++) {
        if (limits[n] == 0)
            continue;
        run(limits[n]);
        wrong += rig.model.stream.stats.experts_kept != told[n];
        sizes++;
    }
    OK(sizes == 9 && wrong == 0 && told[4] > told[3] && told[3] != 0,
       "4 slots predict the hits of caches of %u sizes, %u wrongly (%lu with 4)", sizes, wrong,
       (unsigned long)told[4]);
}

/* ---- kept in a file ----------------------------------------------------------------------------- */

static void insert_card(void)
{
    fake_init(&card, card_data, FILE_BYTES / SECTOR_BYTES);
    card.written = card_data;
    card.dev.name = "a card";
    card.dev.max_sectors = 16;
    card.dev.writable = true;
    if (file_open_device(&file, &card.dev, FILE_BYTES, NULL) != ERR_OK)
        rig_die("the card does not open");
    file_set_name(&file, "models/m.use");
}

/* Counts that a seed says. */
static void set_counts(uint32_t seed)
{
    for (uint32_t i = 0; i < n_experts(); i++) {
        experts()->all[i].taken = seed * 1000 + i;
        experts()->all[i].found = seed * 2000 + 3 * i;
    }
}

static bool counts_are(uint32_t seed)
{
    bool same = true;

    for (uint32_t i = 0; i < n_experts(); i++)
        same = same && experts()->all[i].taken == seed * 1000 + i &&
               experts()->all[i].found == seed * 2000 + 3 * i;
    return same;
}

static enum err save(uint32_t seed)
{
    set_counts(seed);
    return expert_use_write(&use, &file, &rig.model.image, experts()->all);
}

static enum err load(void)
{
    set_counts(77);
    memset(&found, 0x11, sizeof found);
    return expert_use_read(&use, &file, &rig.model.image, &found, experts()->all);
}

static bool is_cleared(void)
{
    bool zero = found.total == 0;

    for (uint32_t i = 0; i < n_experts(); i++)
        zero = zero && experts()->all[i].taken == 0 && experts()->all[i].found == 0;
    return zero;
}

static void test_there_and_back(void)
{
    uint64_t sum = 0;

    memset(card_data, 0, sizeof card_data);
    insert_card();
    OK(load() == ERR_NOT_FOUND && is_cleared(), "a blank file has no counts: %s",
       use.error_message);
    memcpy(card_data, "INGOTFAB", 8);
    OK(load() == ERR_BAD_MODEL && is_cleared() &&
           strstr(use.error_message, "is a file of memories, not a count of experts") != NULL,
       "a file of memories is refused: %s", use.error_message);
    memcpy(card_data, "INGOTUSE", 8);
    OK(load() == ERR_BAD_CHECKSUM && strstr(use.error_message, "is damaged") != NULL,
       "a damaged file is refused: %s", use.error_message);
    memset(card_data, 0, sizeof card_data);
    OK(save(1) == ERR_OK && load() == ERR_OK && counts_are(1), "counts are saved and loaded");
    for (uint32_t i = 0; i < MOST; i++)
        sum += found.found[i];
    OK(sum == found.total && found.found[2] - found.found[1] == 3 * 3,
       "a plan gets the layers' counts together, place by place");
    OK(save(2) == ERR_OK && save(3) == ERR_OK && load() == ERR_OK && counts_are(3),
       "the third save is the newest");
    rig.model.image.header = memcpy(malloc(INGOT_PAGE), rig.model.image.header, INGOT_PAGE);
    ((struct ingot_header *)(uintptr_t)rig.model.image.header)->header_crc32c ^= 1;
    OK(load() == ERR_BAD_MODEL && is_cleared(), "the counts of another model are refused: %s",
       use.error_message);
    OK(save(4) == ERR_OK && load() == ERR_OK && counts_are(4),
       "another model writes its own counts");
}

/* Power fails after any number of sectors: the old counts or the new ones are there. */
static void test_power(void)
{
    static uint8_t good[FILE_BYTES];
    unsigned wrong = 0, old = 0;

    if (save(5) != ERR_OK)
        rig_die("no save");
    memcpy(good, card_data, sizeof good);
    for (long n = 0; n < 8; n++) {
        bool saved;

        memcpy(card_data, good, sizeof good);
        insert_card();
        card.sectors_left = n;
        saved = save(6) == ERR_OK;
        insert_card();
        if (load() != ERR_OK || !(counts_are(5) || counts_are(6)) || saved != counts_are(6))
            wrong++;
        old += counts_are(5);
    }
    OK(wrong == 0 && old >= 2 && old < 8,
       "a power loss at any sector leaves the old counts (%u of 8 times) or the new ones", old);
}

static void test_wrong_bits(void)
{
    unsigned wrong = 0, sectors = 0;

    for (size_t at = 0; at < FILE_BYTES; at += 100) {
        enum err e;

        memset(card_data, 0, sizeof card_data);
        insert_card();
        if (save(7) != ERR_OK || save(8) != ERR_OK)
            rig_die("no save");
        card_data[at] ^= 0x10;
        e = load();
        wrong += e != ERR_OK || !(counts_are(8) || counts_are(7));
        sectors += counts_are(7);
    }
    OK(wrong == 0 && sectors != 0,
       "a wrong bit in the newest counts gives those before them (%u times)", sectors);
    card_data[SECTOR_BYTES] ^= 1;
    card_data[FILE_BYTES / 2 + SECTOR_BYTES] ^= 1;
    OK(load() == ERR_BAD_CHECKSUM && is_cleared(), "a wrong bit in both counts is an error: %s",
       use.error_message);
    card.dev.writable = false;
    OK(save(9) == ERR_UNSUPPORTED, "a file that takes no writes is reported: %s",
       use.error_message);
    card.dev.writable = true;
    file.bytes = 2 * SECTOR_BYTES;
    OK(save(9) == ERR_NO_SPACE, "a file that is too small is reported: %s", use.error_message);
}

int main(void)
{
    rig_alone();
    rig_compute(false);
    rig_make_model("experts", INGOT_Q8_0);
    set_expected();
    find_limits();
    test_every_size();
    test_there_and_back();
    test_power();
    test_wrong_bits();
    return tap_done();
}
