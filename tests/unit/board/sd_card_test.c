/* The registers of cards, their start, and the block device over a host that does what it is
 * told. */
#include <stdlib.h>

#include "tests/unit/board/fakes/fake_sd_host.h"

/* ---- registers ---- */

static void test_csd(void)
{
    /* A 1 GB card and a 32 GB card with real answers, and one of a later version. */
    static const uint8_t small[16] = { 0x00, 0x2f, 0x00, 0x32, 0x5f, 0x59, 0x83, 0xc8,
                                       0xbe, 0xfb, 0xcf, 0xff, 0x92, 0x40, 0x40, 0x00 };
    static const uint8_t large[16] = { 0x40, 0x0e, 0x00, 0x32, 0x5b, 0x59, 0x00, 0x00,
                                       0xed, 0xc8, 0x7f, 0x80, 0x0a, 0x40, 0x40, 0x00 };
    struct sd_facts f = { 0 };
    uint32_t csd[4];

    sd_facts_words(csd, small);
    OK(sd_facts_bits(csd, 96, 8) == 0x32, "a byte of the CSD is where it belongs");
    csd[2] |= 5u << 30;
    OK(sd_facts_bits(csd, 94, 10) == 0x0c9, "a field of the CSD may cross words");
    OK(sd_facts_csd(&f, csd) == ERR_OK && f.n_sectors == 0xf23u << 9 && !f.by_sector,
       "a CSD of version 1 gives C_SIZE 0xf22, C_SIZE_MULT 7 and blocks of 512");
    OK(f.max_hz == 25000000 && f.has_switch, "the card has 25 MHz and class 10");
    sd_facts_words(csd, large);
    OK(sd_facts_csd(&f, csd) == ERR_OK && f.n_sectors == 60873u * 1024 && f.by_sector,
       "a CSD of version 2 gives 29.7 GiB");
    csd[3] |= 2u << 30;
    OK(sd_facts_csd(&f, csd) == ERR_UNSUPPORTED, "versions 3 and 4 are unknown");
    memset(csd, 0, sizeof csd);
    OK(sd_facts_csd(&f, csd) == ERR_IO, "zeros are not a CSD");
}

static void test_other_registers(void)
{
    uint8_t status[64] = { 0 }, ext[512] = { 0 };
    uint8_t scr[8] = { 0x02, 0x35, 0x80, 0x02 };
    struct sd_facts f = { .has_switch = true, .by_sector = true };

    OK(sd_facts_tran_speed(0x5a, false) == 50000000, "TRAN_SPEED 5ah is 50 MHz");
    OK(sd_facts_tran_speed(0x2a, true) == 20000000 && sd_facts_tran_speed(0x32, true) == 26000000,
       "an eMMC's TRAN_SPEED has a value for 26 MHz");
    OK(sd_facts_tran_speed(0x07, false) == 0, "a reserved unit is not a rate");
    sd_facts_scr(&f, scr);
    OK(f.has_4_bits && f.has_count && f.has_switch, "the SCR has four bits and CMD23");
    scr[0] = 0;
    sd_facts_scr(&f, scr);
    OK(!f.has_switch, "version 1.0 has no CMD6");
    status[13] = 0x0a; /* group 1, modes 1 and 3 */
    status[11] = 0x02; /* group 2, mode 1 */
    status[16] = 0x13; /* group 2 chose 1, group 1 chose 3 */
    OK(sd_switch_offers(status, 1, 3) && !sd_switch_offers(status, 1, 2) &&
           sd_switch_offers(status, 2, 1),
       "CMD6 says which functions a card offers");
    OK(sd_switch_chose(status, 1, 3) && sd_switch_chose(status, 2, 1) &&
           !sd_switch_chose(status, 1, 1),
       "the choice of CMD6 is read");
    ext[212] = 0x00, ext[213] = 0x10, ext[214] = 0x20, ext[215] = 0x01;
    sd_facts_emmc_ext_csd(&f, ext);
    OK(f.n_sectors == 0x01201000, "EXT_CSD counts sectors");
}

/* ---- the start ---- */

static void test_start(void)
{
    static const uint8_t sequence[] = { 0,  8,         55, 0x80 | 41, 55, 0x80 | 41, 55, 0x80 | 41,
                                        55, 0x80 | 41, 2,  3,         9,  7,         55, 0x80 | 51,
                                        55, 0x80 | 6,  6,  6 };

    set_up(PLAIN);
    open_card();
    OK(device.error_message == NULL && device.n_sectors == FAKE_SD_SECTORS, "the card starts");
    OK(fake.n_log == sizeof sequence && memcmp(fake.log, sequence, sizeof sequence) == 0,
       "the commands are those of figures 4-1 to 4-3, in their order");
    OK(h.hz == 50000000 && h.bits == 4 && h.timing == SD_TIMING_HIGH && fake.width == 4 &&
           fake.mode == 1,
       "card and host have four bits at high speed");
    OK(device.max_sectors == 128 && device.writable, "requests may be as large as the host takes");

    set_up(SD_CAN_HIGH_SPEED);
    open_card();
    OK(h.bits == 1 && fake.width == 1, "one bit is used if the host has one line");
    set_up(PLAIN);
    fake.is_1_bit = true;
    open_card();
    OK(h.bits == 1 && fake.width == 1 && device.error_message == NULL,
       "one bit is used if the card has one line");

    set_up(PLAIN);
    fake.is_version_1 = true;
    open_card();
    OK(device.error_message == NULL && device.n_sectors == FAKE_SD_SECTORS &&
           fake_sd_count(&fake, 16) == 1 && h.hz == 25000000,
       "a card of version 1 runs at 25 MHz");
    OK(read_at(77, 3) == ERR_OK && holds(77, 3), "a card of version 1 counts bytes");
}

static void test_emmc(void)
{
    set_up(PLAIN | SD_CAN_8_BITS);
    fake.is_emmc = true;
    fake.ext_csd[196] = 7;    /* high speed at 26 and 52 MHz, and more */
    fake.ext_csd[213] = 0x10; /* SEC_COUNT */
    fake.ext_csd[215] = 0x01;
    open_card();
    OK(device.error_message != NULL && strstr(device.error_message, "no card answers") != NULL,
       "an eMMC is not an SD card");
    h.host.identify_emmc = sd_emmc_identify;
    fake.asks = 2;
    open_card();
    OK(device.error_message == NULL && device.n_sectors == 0x01001000,
       "an eMMC starts if the slot may have one");
    OK(h.bits == 8 && h.timing == SD_TIMING_HIGH && h.hz == 52000000 && fake.ext_csd[183] == 2 &&
           fake.ext_csd[185] == 1,
       "card and host have eight bits at 52 MHz");
    OK(read_at(70000, 3) == ERR_OK && holds(70000, 3), "the eMMC reads");
    fake.garbled = 2;
    OK(read_at(5, 3) == ERR_OK && holds(5, 3) && card.best == SD_RUNG_DEFAULT && h.hz == 26000000 &&
           fake.ext_csd[185] == 0,
       "an eMMC runs slower after errors");
}

static void test_no_start(void)
{
    set_up(PLAIN);
    h.present = false;
    open_card();
    OK(device.error_message != NULL &&
           strstr(device.error_message, "no card in the slot") != NULL && fake.n_log == 0,
       "an empty slot has its error message: %s", device.error_message);
    set_up(PLAIN);
    fake.is_silent = true;
    open_card();
    OK(device.error_message != NULL && strstr(device.error_message, "no card answers") != NULL,
       "a card that does not answer has its error message: %s", device.error_message);
    set_up(PLAIN);
    fake.asks = 1000000;
    open_card();
    OK(device.error_message != NULL && strstr(device.error_message, "ready") != NULL,
       "a card that is never ready has its error message: %s", device.error_message);
    set_up(PLAIN);
    fake.is_locked = true;
    open_card();
    OK(device.error_message != NULL && strstr(device.error_message, "password") != NULL,
       "a locked card has its error message: %s", device.error_message);
    set_up(PLAIN);
    fake.garbled = 1;
    open_card();
    OK(device.error_message == NULL && card.best == SD_RUNG_DEFAULT && h.hz == 25000000,
       "a start that fails once is tried again, slowly");
    set_up(PLAIN);
    fake.garbled = 2;
    open_card();
    OK(device.error_message != NULL && strstr(device.error_message, "contacts") != NULL,
       "a start that fails twice has its error message: %s", device.error_message);
}

/* ---- transfers ---- */

static void test_reads(void)
{
    set_up(PLAIN);
    open_card();
    OK(read_at(5, 1) == ERR_OK && holds(5, 1) && fake_sd_count(&fake, 17) == 1,
       "one sector is read by CMD17");
    OK(read_at(4000, 64) == ERR_OK && holds(4000, 64) && fake_sd_count(&fake, 18) == 1 &&
           fake_sd_count(&fake, 12) == 0,
       "many sectors are read by CMD18, which the host stops");
    OK(read_at(FAKE_SD_SECTORS - 2, 2) == ERR_OK && holds(FAKE_SD_SECTORS - 2, 2),
       "the last sectors are read");
    OK(read_at(FAKE_SD_SECTORS - 1, 2) == ERR_RANGE, "a read beyond the last sectors is refused");
    fake.n_sectors = 1024; /* less than it said */
    OK(read_at(2000, 2) == ERR_RANGE, "a read that the card calls out of range gives ERR_RANGE");

    set_up(PLAIN & ~(uint32_t)SD_STOPS);
    open_card();
    OK(read_at(9, 4) == ERR_OK && holds(9, 4) && fake_sd_count(&fake, 23) == 1 &&
           fake_sd_count(&fake, 12) == 0,
       "a host that sends no stop gets CMD23 in front");
    set_up(PLAIN & ~(uint32_t)SD_STOPS);
    fake.knows_count = false;
    open_card();
    OK(read_at(9, 4) == ERR_OK && holds(9, 4) && fake_sd_count(&fake, 12) == 1,
       "without CMD23 a read ends with CMD12");
    fake.latched = 1u << 21; /* CARD_ECC_FAILED */
    OK(read_at(9, 4) == ERR_OK && holds(9, 4) && card.n_errors == 0,
       "CMD12 may answer about blocks that nobody asked for");
}

static void test_queue(void)
{
    struct block_request r[SD_CARD_DEPTH + 1];
    unsigned polls = 0;

    set_up(PLAIN);
    open_card();
    for (unsigned i = 0; i <= SD_CARD_DEPTH; i++)
        r[i] =
            (struct block_request){ .sector = i * 4, .n_sectors = 4, .buffer = buffer + i * 2048 };
    h.dead = true; /* so that none ends meanwhile */
    for (unsigned i = 0; i < SD_CARD_DEPTH; i++)
        OK(device.submit(&device, &r[i]) == ERR_OK, "request %u is taken", i);
    OK(device.submit(&device, &r[SD_CARD_DEPTH]) == ERR_BUSY,
       "a request that the queue has no room for is not taken");
    h.dead = false;
    while (!r[SD_CARD_DEPTH - 1].done && polls++ < 1000)
        (void)device.poll(&device);
    OK(polls < 1000 && holds(0, 4 * SD_CARD_DEPTH),
       "all requests are done, each in its own buffer");
}

static void test_writes(void)
{
    struct block_request r = { .sector = 8, .n_sectors = 4, .buffer = buffer, .write = true };
    static const uint8_t text[] = "saved";

    set_up(PLAIN);
    open_card();
    memset(buffer, 0, sizeof buffer);
    memcpy(buffer, text, sizeof text);
    fake.programming = 3;
    OK(transfer(&r) == ERR_OK && memcmp(fake.written + 8 * 512, text, sizeof text) == 0 &&
           fake_sd_count(&fake, 25) == 1,
       "CMD25 writes");
    OK(fake_sd_count(&fake, 13) == 4, "CMD25 is done when the card has stored the data");
    r.n_sectors = 1;
    OK(transfer(&r) == ERR_OK && fake_sd_count(&fake, 24) == 1, "CMD24 writes one sector");
    h.host.abilities &= ~(uint32_t)SD_CAN_WRITE;
    open_card();
    OK(!device.writable && device.submit(&device, &r) == ERR_UNSUPPORTED,
       "a locked card is refused");
}

/* The card takes the data, and says in a later answer that it could not store it: in CMD13's after
 * CMD24 and after a counted CMD25, and in CMD12's if it does not know CMD23. */
static void test_unstored(void)
{
    static const struct {
        const char *what;
        uint32_t n;
        bool knows_count;
    } rows[] = { { "CMD24", 1, true },
                 { "a counted CMD25", 4, true },
                 { "CMD25 and CMD12", 4, false } };
    /* Table 4-42: out of range, address, length, write protection, ECC, controller, general */
    static const uint8_t bits[] = { 31, 30, 29, 26, 21, 20, 19 };
    struct block_request r = { .sector = 8, .buffer = buffer, .write = true };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unsigned told = 0;

        set_up(PLAIN);
        fake.knows_count = rows[i].knows_count;
        open_card();
        memset(buffer, 0x6b, sizeof buffer);
        fake.unstored = 1;
        r.n_sectors = rows[i].n;
        OK(transfer(&r) == ERR_OK && card.n_errors == 1 &&
               memcmp(fake.written + 8 * 512, buffer, rows[i].n * (size_t)512) == 0,
           "%s: blocks that were not stored are written again", rows[i].what);
        fake.unstored = 100;
        OK(transfer(&r) == ERR_IO, "%s: blocks that are never stored are an error", rows[i].what);
        for (size_t b = 0; b < sizeof bits; b++) {
            fake.unstored = 100;
            fake.why = 1u << bits[b];
            told += transfer(&r) == ERR_IO;
        }
        OK(told == sizeof bits, "%s: each of the error bits says so: %u", rows[i].what, told);
    }
}

static void test_retries(void)
{
    set_up(PLAIN);
    open_card();
    h.n_stops = 0;
    fake.garbled = 1;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2) && h.n_stops == 1 && card.n_errors == 1 &&
           h.n_resets == 1,
       "after one wrong CRC the read is stopped and repeated, without an error");
    fake.garbled = 2;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2) && h.n_resets == 2 && card.best == SD_RUNG_DEFAULT &&
           h.hz == 25000000,
       "after two wrong CRCs the card starts afresh and slower");
    fake.late = 2;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "two time-outs are tried again");
    fake.ecc = 1;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "one CARD_ECC_FAILED is tried again");
    fake.ecc = 1000;
    card.n_errors = 0;
    OK(read_at(3, 2) == ERR_IO && card.n_errors == 4,
       "a permanent error gives ERR_IO after three more tries");
    fake.ecc = 0;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "the card takes the next request");
    h.dead = true;
    OK(read_at(3, 2) == ERR_TIMEOUT, "a controller that never ends a command is a timeout");
    h.n_resets = 0;
    OK(read_at(3, 2) == ERR_TIMEOUT && h.n_resets == 0,
       "the next tries do not wait for the controller");
    h.dead = false;
    h.now += 3000000;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2) && h.n_resets == 1,
       "a try some seconds later waits for the controller again");
}

static void test_removal(void)
{
    struct block_request r = { .sector = 3, .n_sectors = 2, .buffer = buffer };

    set_up(PLAIN);
    open_card();
    (void)device.submit(&device, &r);
    h.present = false;
    h.fault = SD_FAULT_DATA_TIMEOUT;
    while (!r.done)
        (void)device.poll(&device);
    OK(r.status == ERR_REMOVED, "a card that is taken out during a transfer is reported");
    OK(read_at(3, 2) == ERR_REMOVED, "the next request finds the card still out");
    h.present = true;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "the card reads when it is back");
    h.present = false;
    OK(read_at(3, 2) == ERR_REMOVED, "the card fails when it is taken out again");
    h.present = true;
    fake.serial = 2;
    OK(read_at(3, 2) == ERR_REMOVED, "another card is not taken for the first one");
    fake.serial = 1;
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "the first card is taken when it is back");
}

static void test_reset(void)
{
    struct block_request r = { .sector = 3, .n_sectors = 2, .buffer = buffer };

    set_up(PLAIN);
    open_card();
    (void)device.submit(&device, &r);
    OK(device.reset(&device) == ERR_OK && r.done && r.status == ERR_TIMEOUT,
       "a reset hands the request back");
    OK(read_at(3, 2) == ERR_OK && holds(3, 2), "the card works after the reset");
    fake.is_silent = true;
    OK(device.reset(&device) == ERR_TIMEOUT, "a card that stays silent is reported");
}

int main(void)
{
    test_csd();
    test_other_registers();
    test_start();
    test_emmc();
    test_no_start();
    test_reads();
    test_queue();
    test_writes();
    test_unstored();
    test_retries();
    test_removal();
    test_reset();
    return tap_done();
}
