/* Any bytes over those of a file of kept prompts (runtime/saved/kept.h), with its CRCs made right or left wrong: it is used,
 * or refused with an error message, and with wrong CRCs a prompt's logits are those of a session that keeps nothing. */
#include "runtime/saved/kept.h"

#include "runtime/base/crc32c.h"
#include "tests/unit/model/hybrid_rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LENGTH = 200, BLOCK = 64, BLOCKS = LENGTH / BLOCK, MEMORY = 2 << 20, CARD = 256 << 10 };
/* Fields of a row of the table, in bytes. */
enum { ROW_CRC = 8, ROW_KEYS_CRC = 56, ROW_MARKS_CRC = 60, HEADER_CRC = 12 };

static struct kept kept;
static _Alignas(64) uint8_t memory[MEMORY], card[CARD], good[CARD];
static uint32_t ids[LENGTH];
static float expected[H_VOCAB];
static struct fake_block device;
static struct file file;
static unsigned n_inputs;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void open_kept(void)
{
    struct kept_setup setup = { { memory, MEMORY }, &file, BLOCK };

    fake_init(&device, card, CARD / SECTOR_BYTES);
    device.written = card;
    device.dev.writable = true;
    must(file_open_device(&file, &device.dev, CARD, NULL) == ERR_OK);
    file_set_name(&file, "ingot.kept");
    must(kept_open(&kept, &setup, &rig.session));
}

/* Returns how many tokens need not be computed. */
static uint32_t ask(void)
{
    struct session *s = &rig.session;
    uint32_t cached;

    session_clear(s);
    must(session_put(s, ids, LENGTH) == ERR_OK);
    cached = kept_take(&kept, s);
    must(cached < LENGTH && cached == s->n_cached);
    return cached;
}

static void compute(void)
{
    must(session_run(&rig.session, NULL) == ERR_OK);
    kept_follow(&kept, &rig.session, LENGTH);
    for (unsigned n = 0; kept_write(&kept); n++) {
        must(n < 2 * KEPT_BLOCKS_MOST);
    }
}

static void put_crc(uint8_t *sector, size_t at)
{
    uint32_t crc;

    memset(sector + at, 0, sizeof crc);
    crc = crc32c(0, sector, SECTOR_BYTES);
    memcpy(sector + at, &crc, sizeof crc);
}

static void put_crcs(void)
{
    size_t slot = kept.keys_bytes + kept.marks_bytes;
    uint8_t *slots = card + SECTOR_BYTES * (1 + (size_t)kept.n_card);

    put_crc(card, HEADER_CRC);
    for (size_t i = 0; i < kept.n_card; i++) {
        uint8_t *row = card + (1 + i) * SECTOR_BYTES;
        uint32_t keys = crc32c(0, slots + i * slot, kept.keys_bytes),
                 marks = crc32c(0, slots + i * slot + kept.keys_bytes, kept.marks_bytes);

        memcpy(row + ROW_KEYS_CRC, &keys, sizeof keys);
        memcpy(row + ROW_MARKS_CRC, &marks, sizeof marks);
        put_crc(row, ROW_CRC);
    }
}

static void set_up(void)
{
    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    hybrid_make(&hybrids[0], INGOT_Q8_0);
    must(rig_start(0, 8, false) == ERR_OK);
    for (uint32_t i = 0; i < LENGTH; i++) {
        ids[i] = 3 + i * 7 % 290;
    }
    session_clear(&rig.session);
    must(session_append(&rig.session, ids, LENGTH, NULL) == ERR_OK);
    memcpy(expected, rig.session.logits, sizeof expected);
    open_kept();
    must(kept.n_card >= BLOCKS && kept.error_message[0] == '\0' && ask() == 0);
    while (rig.session.n_cached + BLOCK < LENGTH) { /* passes end at marks */
        session_cut(&rig.session, rig.session.n_cached + BLOCK);
        must(session_run(&rig.session, NULL) == ERR_OK);
        kept_follow(&kept, &rig.session, LENGTH);
        must(session_put(&rig.session, ids + rig.session.n_ids, LENGTH - rig.session.n_ids) ==
             ERR_OK);
    }
    compute();
    memcpy(good, card, sizeof good);
    open_kept();
    must(ask() == BLOCKS * BLOCK);
}

/* The first byte chooses a place in the header, in a row of the table, or in a slot. */
static size_t place_of(uint8_t first)
{
    size_t i = first % 4u, within = (size_t)(first / 4 % 16) * 32;

    if (first < 128) {
        return i * SECTOR_BYTES + within;
    }
    return SECTOR_BYTES * (1 + (size_t)kept.n_card) + i * (kept.keys_bytes + kept.marks_bytes) +
           within;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bool wrong;
    size_t at;

    if (kept.distance == 0) {
        set_up();
    }
    if (size < 3) {
        return 0;
    }
    memcpy(card, good, sizeof card);
    open_kept();
    at = place_of(data[0]);
    for (size_t i = 2; i < size && at + i - 2 < CARD; i++) {
        card[at + i - 2] ^= data[i];
    }
    wrong = (data[1] & 1) != 0;
    if (!wrong) {
        put_crcs();
    }
    open_kept();
    must(kept.n_card != 0 || kept.error_message[0] != '\0');
    (void)ask();
    if (n_inputs++ % 8 == 0) {
        compute();
        must(!wrong || memcmp(rig.session.logits, expected, sizeof expected) == 0);
        open_kept();
        (void)ask();
    }
    return 0;
}
