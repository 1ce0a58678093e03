/* Any bytes over those of a file of use (runtime/stream/expert_use.h), with its CRCs made right or left
 * wrong: it is read, or refused with an error message and nothing is counted. */
#include "runtime/stream/expert_use.h"

#include "runtime/base/crc32c.h"
#include "tests/unit/rig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_BYTES = 8 * SECTOR_BYTES };

static struct expert_use use;
static struct plan_use found;
static struct stream_expert *all;
static struct fake_block card;
static _Alignas(64) uint8_t card_data[FILE_BYTES];
static struct file file;

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void set_up(void)
{
    (void)tap_good; /* of the rig, which unit tests share */
    rig_alone();
    rig_compute(false);
    rig_make_model("experts", INGOT_Q8_0);
    must(rig_open(0, 0, false) == ERR_OK);
    all = calloc(INGOT_MAX_EXPERTS, sizeof *all);
    must(all != NULL);
    fake_init(&card, card_data, FILE_BYTES / SECTOR_BYTES);
    card.written = card_data;
    card.dev.name = "a card";
    card.dev.max_sectors = 4;
    card.dev.writable = true;
    must(file_open_device(&file, &card.dev, FILE_BYTES, NULL) == ERR_OK);
    file_set_name(&file, "models/m.use");
}

static void set_crcs(struct expert_use_header *h)
{
    if (h->n <= (FILE_BYTES / 2 - SECTOR_BYTES) / 8) {
        h->payload_crc = crc32c(0, h + 1, h->n * 8);
    }
    h->header_crc = 0;
    h->header_crc = crc32c(0, h, sizeof *h);
}

/* The first byte: whether CRCs are made right; the second: where in a half the others are added. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct expert_use_header *h = (void *)card_data;
    uint64_t sum = 0;
    enum err e;

    if (all == NULL) {
        set_up();
    }
    if (size < 3) {
        return 0;
    }
    memset(card_data, 0, sizeof card_data);
    for (uint32_t i = 0; i < 8; i++) {
        all[i].taken = i;
        all[i].found = i * i;
    }
    must(expert_use_write(&use, &file, &rig.model.image, all) == ERR_OK);
    if (h->sequence == 0) {
        h = (void *)(card_data + FILE_BYTES / 2);
    }
    for (size_t i = 2, at = data[1] * 4u; i < size && at + i < FILE_BYTES / 2; i++) {
        ((uint8_t *)h)[at + i - 2] ^= data[i];
    }
    if ((data[0] & 1) == 0) {
        set_crcs(h);
    }
    e = expert_use_read(&use, &file, &rig.model.image, &found, all);
    for (uint32_t i = 0; i < INGOT_MAX_EXPERTS; i++) {
        sum += found.found[i];
    }
    must(sum == found.total);
    must(e == ERR_OK || (use.error_message[0] != '\0' && sum == 0 && all[1].taken == 0));
    return 0;
}
