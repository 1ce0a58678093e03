/* Prompts that are kept in blocks: a sequence that begins like another one takes its blocks, and its logits equal those of a
 * session that keeps nothing, bit for bit: in models with a recurrence of each kind and in one whose layers all attend; in
 * memory, and after a restart from a file, which may be damaged, another model's, or fail. */
#include "runtime/saved/kept.h"

#include "runtime/base/crc32c.h"
#include "runtime/session/session_drop.h"
#include "runtime/session/session_group.h"
#include "tests/unit/model/hybrid_rig.h"

enum { SEQUENCES = 4, LENGTH = 230, BLOCK = 64, MEMORY = 8 << 20, CARD = 4 << 20 };

static uint32_t ids[SEQUENCES][LENGTH];
static float expected[SEQUENCES][LENGTH + 1][H_VOCAB]; /* after the first n */

/* Two begin like the first for 150 and 70 tokens, and one shares nothing with it. */
static const uint32_t alike[SEQUENCES] = { LENGTH, 150, 70, 0 };

static struct kept kept;
static struct session_group group;
static _Alignas(64) uint8_t memory[MEMORY];
static struct fake_block card;
static _Alignas(64) uint8_t card_data[CARD];
static struct file file;

static void start(void)
{
    if (rig_start(0, 8, false) != ERR_OK)
        rig_die(rig.model.error_message);
}

static void set_expected(void)
{
    start();
    for (uint32_t k = 0; k < SEQUENCES; k++) {
        session_clear(&rig.session);
        for (uint32_t i = 0; i < LENGTH; i++) {
            ids[k][i] = i < alike[k] ? 3 + i * 7 % 290 : 3 + (i * 11 + k * 17 + 5) % 290;
            if (session_append(&rig.session, &ids[k][i], 1, NULL) != ERR_OK)
                rig_die(rig.session.error_message);
            memcpy(expected[k][i + 1], rig.session.logits, rig_logits_bytes());
        }
    }
}

/* Starts with room for n blocks in memory; 0: plenty. */
static bool open_kept(uint32_t n, const struct file *f)
{
    struct kept_setup setup = { { memory, MEMORY }, f, BLOCK };
    bool good = kept_open(&kept, &setup, &rig.session);

    if (good && n != 0) {
        size_t lists = f == NULL ? 0 : KEPT_BLOCKS_MOST * sizeof(struct kept_block);

        setup.memory.bytes = lists + 64 +
                             n * (kept.keys_bytes + kept.marks_bytes + sizeof(struct kept_block)) +
                             64;
        good = kept_open(&kept, &setup, &rig.session);
    }
    memset(&group, 0, sizeof group);
    group.sessions[0] = &rig.session;
    group.n = 1;
    group.step = kept_step(&kept);
    return good;
}

/* Takes the first n tokens of a sequence as a prompt. Returns how many need not be computed, and
 * computes the others. */
static uint32_t ask(uint32_t k, uint32_t n)
{
    struct session *s = &rig.session;
    uint32_t cached;

    session_clear(s);
    if (session_put(s, ids[k], n) != ERR_OK)
        rig_die(s->error_message);
    cached = kept_take(&kept, s);
    while (s->n_cached < n) {
        if (session_group_pass(&group, NULL) != ERR_OK)
            rig_die(s->error_message);
        kept_follow(&kept, s, n);
    }
    return cached;
}

static bool is(uint32_t k, uint32_t n)
{
    const struct session *s = &rig.session;

    return s->n_ids == n && s->n_cached == n && s->logits != NULL &&
           memcmp(s->logits, expected[k][n], rig_logits_bytes()) == 0;
}

static void test_memory(const char *name)
{
    start();
    OK(open_kept(0, NULL) && ask(0, 200) == 0 && is(0, 200), "%s: the first prompt is computed",
       name);
    OK(ask(1, 200) == 128 && is(1, 200),
       "two blocks of another prompt that begins in the same way are reused");
    OK(ask(2, 200) == 64 && is(2, 200), "one block of a third prompt is reused");
    OK(ask(3, 100) == 0 && is(3, 100), "no block is reused for a prompt that begins otherwise");
    OK(ask(0, 230) == 192 && is(0, 230) && ask(1, 230) == 192 && is(1, 230),
       "a prompt keeps its blocks, whichever prompts came between");
    OK(ask(0, 192) == 128 && is(0, 192), "the last token is computed for its logits");
}

static void test_bound(void)
{
    start();
    OK(open_kept(4, NULL) && kept.n_memory == 4, "four blocks have room");
    (void)ask(0, 200);
    (void)ask(3, 200);
    OK(ask(0, 200) == 64 && is(0, 200), "the end of the sequence used longest ago gives way first");
    OK(open_kept(2, NULL) && ask(0, 230) == 0 && is(0, 230) && ask(0, 230) == 128 && is(0, 230),
       "the beginning of a sequence that is too long is kept");
}

static uint32_t seed = 1;
static uint32_t some(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (uint32_t)(((uint64_t)seed * n) >> 32);
}

/* Sequences go on, are cut, and others replace them in the same session, as in a server. */
static void test_random(const struct file *f)
{
    struct session *s = &rig.session;
    uint32_t good = 0, runs = 0, reused = 0;

    start();
    (void)open_kept(1 + some(8), f);
    for (uint32_t step = 0; step < 60; step++) {
        uint32_t k = some(SEQUENCES), n = 1 + some(LENGTH), same = 0, cached;

        while (same < s->n_ids && same + 1 < n && s->ids[same] == ids[k][same])
            same++;
        (void)session_cut(s, same);
        (void)session_put(s, ids[k] + same, n - same);
        if (some(3) == 0)
            session_mark(s);
        cached = kept_take(&kept, s);
        reused += cached != 0;
        while (s->n_cached < n && session_group_pass(&group, NULL) == ERR_OK)
            kept_follow(&kept, s, n);
        while (some(2) && kept_write(&kept)) {
        }
        runs++;
        good += is(k, n);
    }
    OK(good == runs && reused > 5, "of %u prompts at random, %u with blocks, %u are right", runs,
       reused, good);
}

/* ---- a file ---------------------------------------------------------------------------------- */

static void insert_card(void)
{
    fake_init(&card, card_data, CARD / SECTOR_BYTES);
    card.written = card_data;
    card.dev.name = "a card";
    card.dev.max_sectors = 16;
    card.dev.writable = true;
    if (file_open_device(&file, &card.dev, CARD, NULL) != ERR_OK)
        rig_die("the card does not open");
    file_set_name(&file, "kept");
}

static uint32_t write_all(void)
{
    uint32_t n = 0;

    while (kept_write(&kept))
        n++;
    return n;
}

static void test_file(void)
{
    memset(card_data, 0, sizeof card_data);
    insert_card();
    start();
    OK(open_kept(0, &file) && ask(0, 200) == 0 && write_all() == 3 && kept.n_written == 3,
       "three blocks are written");
    OK(write_all() == 0, "the blocks are written only once");
    start();
    OK(open_kept(0, &file) && ask(1, 200) == 128 && is(1, 200) && kept.n_read == 2,
       "two blocks of another prompt are read after a restart");
    (void)write_all();
    start();
    OK(open_kept(1, &file) && ask(1, 230) == 64 && is(1, 230),
       "one of the blocks is read into memory");
    start();
    (void)open_kept(0, &file);
    (void)ask(3, 64);
    OK(write_all() == 1, "a block of one more prompt is added");
    start();
    OK(open_kept(0, &file) && ask(3, 100) == 64 && is(3, 100) && ask(1, 230) == 192 && is(1, 230),
       "all blocks are there after the start");
}

/* Damages a byte of each slot in turn. */
static void test_damage(void)
{
    uint32_t right = 0, found = 0, slots;
    size_t slot;

    insert_card();
    start();
    (void)open_kept(0, &file);
    slots = kept.n_card < 8 ? kept.n_card : 8;
    slot = kept.keys_bytes + kept.marks_bytes;
    for (uint32_t i = 0; i < slots; i++) {
        size_t at = SECTOR_BYTES * (1 + (size_t)kept.n_card) + i * slot + some((uint32_t)slot);
        size_t sector = SECTOR_BYTES * (1 + (size_t)i) + some(SECTOR_BYTES);

        card_data[at] ^= 1;
        card_data[sector] ^= 0x10;
        start();
        (void)open_kept(0, &file);
        found += ask(1, 230) != 0;
        right += is(1, 230);
        card_data[sector] ^= 0x10;
        start();
        (void)open_kept(0, &file);
        (void)ask(0, 230);
        right += is(0, 230);
        card_data[at] ^= 1;
    }
    OK(right == 2 * slots && found != 0,
       "a damaged block or line of the table costs only its computing: %u of %u", right, 2 * slots);
}

static void test_failing(void)
{
    insert_card();
    start();
    (void)open_kept(0, &file);
    card.reads_left = 0;
    OK(ask(0, 230) == 0 && is(0, 230) && kept.error_message[0] != '\0' && !kept_write(&kept) &&
           ask(1, 230) == 128 && is(1, 230),
       "a card that fails is reported, and memory goes on (%s)", kept.error_message);
}

/* ---- other files ----------------------------------------------------------------------------- */

/* The card is unchanged, its name and the reason are printed, and prompts are right all the
 * same. */
static void is_refused(const char *why, const char *name)
{
    static uint8_t before[CARD];

    memcpy(before, card_data, CARD);
    insert_card();
    start();
    OK(open_kept(0, &file) && kept.n_card == 0 && strncmp(kept.error_message, "kept: ", 6) == 0 &&
           strstr(kept.error_message, why) != NULL && ask(0, 200) == 0 && is(0, 200) &&
           ask(1, 200) == 128 && is(1, 200) && write_all() == 0 &&
           memcmp(before, card_data, CARD) == 0,
       "%s is refused, stays as it is, and memory goes on: %s", name, kept.error_message);
}

static void set_header_crc(void)
{
    uint32_t crc;

    memset(card_data + 12, 0, sizeof crc);
    crc = crc32c(0, card_data, SECTOR_BYTES);
    memcpy(card_data + 12, &crc, sizeof crc);
}

static void make_file(void)
{
    memset(card_data, 0, CARD);
    insert_card();
    start();
    (void)open_kept(0, &file);
    (void)ask(0, 200);
    (void)write_all();
}

/* magic (8), version (4), CRC (4), CRC of the model (4). */
static void test_others(void)
{
    make_file();
    memset(card_data, 'x', 3 * SECTOR_BYTES);
    is_refused("not a file of kept prompts", "another file");
    make_file();
    memset(card_data, 0, SECTOR_BYTES);
    is_refused("not a file of kept prompts", "a file that begins with zeros alone");
    for (uint32_t at = 8; at < SECTOR_BYTES; at += 37) {
        make_file();
        card_data[at] ^= 0x20;
        is_refused("its header is damaged", "a damaged header");
    }
    make_file();
    card_data[8] = 0;
    set_header_crc();
    is_refused("its version is 0, not 1", "an older file");
    make_file();
    card_data[8] = 2;
    set_header_crc();
    is_refused("its version is 2, not 1", "a newer file");
    make_file();
    card_data[16] ^= 1;
    set_header_crc();
    insert_card();
    start();
    OK(open_kept(0, &file) && kept.of_another && kept.n_card != 0 &&
           kept.error_message[0] == '\0' && ask(0, 200) == 0 && is(0, 200) && write_all() == 3,
       "another model's file begins anew");
    start();
    OK(open_kept(0, &file) && !kept.of_another && ask(0, 200) == 192 && is(0, 200),
       "the file is this model's now");
}

/* Lets the card take n sectors more. */
static void test_full(void)
{
    uint32_t right = 0, told = 0, n = 0;

    for (long left = 0; left < 400; left += 1 + left / 3, n++) {
        make_file();
        insert_card();
        start();
        (void)open_kept(0, &file);
        (void)ask(3, 200);
        card.sectors_left = left;
        (void)write_all();
        told += kept.error_message[0] != '\0' ? strstr(kept.error_message, "a write failed") != NULL
                                              : kept.n_written == 3;
        right += ask(3, 230) == 192 && is(3, 230);
        (void)ask(0, 230);
        right += is(0, 230);
        card.sectors_left = -1;
        start();
        (void)open_kept(0, &file);
        (void)ask(3, 230);
        right += is(3, 230);
    }
    OK(right == 3 * n && told == n,
       "a card that takes no more after 0 to 399 sectors is reported, right %u of %u times", right,
       3 * n);
}

/* 220 tokens without a tile in the middle: what comes after it was computed with it. 60 more are
 * pending. */
static void drop_some(void)
{
    struct session *s = &rig.session;

    session_clear(s);
    (void)session_put(s, ids[0], 220);
    (void)session_run(s, NULL);
    session_drop(s, KV_TILE, KV_TILE);
    (void)session_put(s, ids[0], 60);
}

static void test_drop(void)
{
    struct session *s = &rig.session;
    uint32_t cached = 220 - KV_TILE, n = cached + 60;

    start();
    (void)open_kept(0, NULL);
    drop_some();
    OK(s->n_ids == n && s->n_cached == cached && s->n_exact == KV_TILE, "%u tokens are dropped",
       (unsigned)KV_TILE);
    kept_follow(&kept, s, s->n_ids);
    memcpy(ids[2], s->ids, n * sizeof *s->ids);
    session_clear(s);
    (void)session_append(s, ids[2], n, NULL);
    memcpy(expected[2][n], s->logits, rig_logits_bytes());
    OK(ask(2, n) == KV_TILE && is(2, n), "no state that was computed with dropped tokens is kept");
    drop_some();
    OK(kept_take(&kept, s) == cached, "no block goes on after states with dropped tokens");
    OK(session_cut(s, KV_TILE) == KV_TILE && s->n_exact == UINT32_MAX, "the beginning is exact");
}

static void test_all(const char *name)
{
    set_expected();
    test_memory(name);
    test_bound();
    test_random(NULL);
    test_file();
    test_random(&file);
    test_file();
    test_damage();
}

int main(void)
{
    static const struct hybrid plain = { "attention alone", INGOT_MIXER_ATTENTION,
                                         .attends = 0x3f };
    static const struct hybrid by_length = { "LongRoPE", INGOT_MIXER_ATTENTION, .attends = 0x3f,
                                             .long_context = 33 };

    rig_compute(false);
    rig_alone();
    for (size_t i = 0; i < N_HYBRIDS; i++) {
        hybrid_make(&hybrids[i], INGOT_Q8_0);
        test_all(hybrids[i].name);
    }
    hybrid_make(&plain, INGOT_Q8_0);
    test_all(plain.name);
    test_failing();
    test_others();
    test_full();
    test_drop();
    hybrid_make(&hybrids[0], INGOT_Q8_0);
    insert_card();
    set_expected();
    start();
    OK(open_kept(0, &file) && ask(0, 200) == 0 && is(0, 200),
       "another model's blocks are given up");
    hybrid_make(&by_length, INGOT_Q8_0);
    start();
    OK(!open_kept(0, NULL) && kept.error_message[0] != '\0' && kept_step(&kept) == 0 &&
           !kept_write(&kept),
       "keys that depend on the text's length are not kept: %s", kept.error_message);
    return tap_done();
}
