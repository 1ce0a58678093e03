/* Brings an SD card from power-on to the transfer state (figures 4-1, 4-2 and 4-3), then to the
 * best speed. Sections are those of the Physical Layer Simplified Specification 6.00. */
#include "board/drivers/sd/sd_bus.h"

#include <string.h>

#include "board/drivers/sd/sd_card.h"
#include "board/min_max.h"

enum {
    CMD_IDLE = 0,
    CMD_ALL_CID = 2,
    CMD_RCA = 3,
    CMD_SWITCH = 6,
    CMD_SELECT = 7,
    CMD_IF_COND = 8,
    CMD_CSD = 9,
    CMD_1V8 = 11,
    CMD_BLOCK_LENGTH = 16,
    CMD_TUNE = 19,
    CMD_APP = 55,
    ACMD_WIDTH = 6,
    ACMD_OP_COND = 41,
    ACMD_SCR = 51,
};

enum { IF_COND = 0x1aa }; /* 4.3.13: 2.7 to 3.6 V, and a pattern that the card repeats */
enum {
    OCR_VOLTAGES = 0x00ff8000,
    OCR_1V8 = 1u << 24,
    OCR_FULL_POWER = 1u << 28,
    OCR_HIGH_CAPACITY = 1u << 30,
    OCR_READY = 1u << 31
};                                 /* table 5-1, 4.2.3.1 */
enum { STATUS_LOCKED = 1u << 25 }; /* table 4-42 */
enum { GROUP_ACCESS = 1 };         /* 4.3.10.3: function groups of CMD6 */

enum {
    DEFAULT_HZ = 25000000,
    READY_MICROS = 1500000, /* 4.2.3: a card takes up to a second */
    ASK_MICROS = 10000,
};

/* Access modes of CMD6 for the speeds (table 4-11). */
static const struct access_mode {
    uint8_t number;
    uint8_t timing;
    uint16_t ability; /* of the host */
    uint32_t hz;
} modes[SD_RUNG_DEFAULT] = {
    [SD_RUNG_SDR104] = { 3, SD_TIMING_SDR104, SD_CAN_SDR104, 208000000 },
    [SD_RUNG_DDR50] = { 4, SD_TIMING_DDR50, SD_CAN_DDR50, 50000000 },
    [SD_RUNG_SDR50] = { 2, SD_TIMING_SDR50, SD_CAN_SDR50, 100000000 },
    [SD_RUNG_HIGH] = { 1, SD_TIMING_HIGH, SD_CAN_HIGH_SPEED, 50000000 },
};

enum err sd_bus_command(struct sd_host *host, unsigned index, uint32_t argument,
                        enum sd_response response, uint32_t *reply)
{
    struct sd_command c = { .index = (uint8_t)index, .argument = argument, .response = response };
    enum err e = sd_host_run(host, &c);

    if (e == ERR_OK && reply != NULL)
        memcpy(reply, c.reply, response == SD_RESPONSE_LONG ? sizeof c.reply : sizeof *reply);
    return e;
}

enum err sd_bus_read(struct sd_host *host, unsigned index, uint32_t argument, uint8_t *data,
                     uint32_t bytes)
{
    struct sd_command c = { .index = (uint8_t)index,
                            .argument = argument,
                            .response = SD_RESPONSE_SHORT,
                            .data = data,
                            .block_bytes = bytes,
                            .n_blocks = 1 };

    return sd_host_run(host, &c);
}

static enum err app_command(struct sd_host *host, const struct sd_card *card, unsigned index,
                            uint32_t argument, enum sd_response response, uint32_t *reply)
{
    enum err e = sd_bus_command(host, CMD_APP, (uint32_t)card->rca << 16, SD_RESPONSE_SHORT, NULL);

    if (e != ERR_OK)
        return e;
    return sd_bus_command(host, index, argument, response, reply);
}

/* Repeat our offer until the card is ready (4.2.3.1). */
static enum err bring_up(struct sd_host *host, struct sd_card *card, bool version_2, bool want_1v8,
                         uint32_t *ocr)
{
    uint64_t start = host->ticks(), limit = sd_host_ticks(host, READY_MICROS);
    uint32_t want = OCR_VOLTAGES;

    /* HCS, XPC and S18R are for cards of version 2 only. */
    if (version_2)
        want |= OCR_HIGH_CAPACITY | OCR_FULL_POWER | bits_if(want_1v8, OCR_1V8);
    do {
        enum err e = app_command(host, card, ACMD_OP_COND, want, SD_RESPONSE_OCR, ocr);

        if (e != ERR_OK)
            return e;
        if (*ocr & OCR_READY)
            return ERR_OK;
        sd_host_delay(host, ASK_MICROS);
    } while (host->ticks() - start < limit);
    card->why = "the card does not become ready after power-up";
    return ERR_TIMEOUT;
}

/* Send CMD0, CMD8, ACMD41. ERR_NO_DEVICE: no SD card answers. */
static enum err wake(struct sd_host *host, struct sd_card *card, bool want_1v8, uint32_t *ocr)
{
    uint32_t reply = 0;
    bool version_2;
    enum err e;

    card->rca = 0;
    e = sd_bus_command(host, CMD_IDLE, 0, SD_RESPONSE_NONE, NULL);
    if (e != ERR_OK)
        return e;
    /* A card of version 1 does not answer CMD8, which is not an error (4.3.13). */
    version_2 = sd_bus_command(host, CMD_IF_COND, IF_COND, SD_RESPONSE_SHORT, &reply) == ERR_OK;
    if (version_2 && (reply & 0xfff) != IF_COND) {
        card->why = "the card does not accept 3.3 V";
        return ERR_UNSUPPORTED;
    }
    e = bring_up(host, card, version_2, want_1v8, ocr);
    if (e != ERR_OK && card->why == NULL)
        return ERR_NO_DEVICE;
    return e;
}

static enum err switch_1v8(struct sd_host *host)
{
    enum err e = sd_bus_command(host, CMD_1V8, 0, SD_RESPONSE_SHORT, NULL);

    if (e != ERR_OK)
        return e;
    return host->ops->set_1v8(host);
}

/* Get identity, address and registers, and select the card (4.2.2, 4.3.1). */
static enum err select_card(struct sd_host *host, struct sd_card *card)
{
    uint32_t csd[4], rca, status;
    enum err e = sd_bus_command(host, CMD_ALL_CID, 0, SD_RESPONSE_LONG, card->facts.cid);

    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_RCA, 0, SD_RESPONSE_SHORT, &rca);
    if (e != ERR_OK)
        return e;
    /* The card chooses its address, which all later commands use. */
    card->rca = (uint16_t)(rca >> 16);
    e = sd_bus_command(host, CMD_CSD, (uint32_t)card->rca << 16, SD_RESPONSE_LONG, csd);
    if (e == ERR_OK)
        e = sd_facts_csd(&card->facts, csd);
    if (e == ERR_UNSUPPORTED)
        card->why = "the card's CSD has an unknown version: use an SDHC or SDXC card";
    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_SELECT, (uint32_t)card->rca << 16, SD_RESPONSE_SHORT_BUSY,
                           &status);
    if (e == ERR_OK && (status & STATUS_LOCKED)) {
        card->why = "the card is locked with a password: unlock it on the device that locked it";
        return ERR_UNSUPPORTED;
    }
    return e;
}

enum err sd_bus_set(struct sd_host *host, struct sd_card *card, uint32_t hz, unsigned bits,
                    enum sd_timing timing)
{
    enum err e;

    hz = min_u32(hz, host->max_hz);
    e = host->ops->set_bus(host, hz, bits, timing);
    card->hz = hz;
    card->bits = bits;
    card->timing = timing;
    return e;
}

/* Read the SCR at the card's default speed, then use four data lines (5.6, 5.7.1). */
static enum err widen(struct sd_host *host, struct sd_card *card)
{
    uint32_t hz = min_u32(card->facts.max_hz, DEFAULT_HZ);
    enum err e = sd_bus_set(host, card, hz, 1, SD_TIMING_DEFAULT);

    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_APP, (uint32_t)card->rca << 16, SD_RESPONSE_SHORT, NULL);
    if (e == ERR_OK)
        e = sd_bus_read(host, ACMD_SCR, 0, card->scratch, SD_SCR_BYTES);
    if (e != ERR_OK)
        return e;
    sd_facts_scr(&card->facts, card->scratch);
    if (!card->facts.has_4_bits || !(host->abilities & SD_CAN_4_BITS))
        return ERR_OK;
    e = app_command(host, card, ACMD_WIDTH, 2, SD_RESPONSE_SHORT, NULL);
    if (e != ERR_OK)
        return e;
    return sd_bus_set(host, card, hz, 4, SD_TIMING_DEFAULT);
}

/* Mode 0 only asks, mode 1 switches; other groups do not change (4.3.10). */
static enum err switch_function(struct sd_host *host, struct sd_card *card, bool do_it,
                                unsigned function)
{
    return sd_bus_read(host, CMD_SWITCH, bits_if(do_it, 1u << 31) | 0x00fffff0 | function,
                       card->scratch, SD_SWITCH_BYTES);
}

static bool may_take(const struct sd_host *host, const struct sd_card *card,
                     const struct access_mode *mode, bool at_1v8)
{
    bool needs_1v8 = mode->timing != SD_TIMING_HIGH;

    if (!(host->abilities & mode->ability) || (needs_1v8 && (!at_1v8 || card->bits != 4)))
        return false;
    return sd_switch_offers(card->scratch, GROUP_ACCESS, mode->number);
}

/* Try a speed; card->rung shows whether the card has accepted it. */
static enum err take(struct sd_host *host, struct sd_card *card, enum sd_rung rung)
{
    const struct access_mode *mode = &modes[rung];
    bool tunes = mode->timing == SD_TIMING_SDR104 ||
                 (mode->timing == SD_TIMING_SDR50 && (host->abilities & SD_TUNES_SDR50));
    enum err e;

    card->rung = rung; /* failures from here on belong to this speed */
    e = switch_function(host, card, true, mode->number);
    if (e != ERR_OK)
        return e;
    /* A card may refuse, for example because the mode needs too much current; then it keeps its
     * speed. */
    if (!sd_switch_chose(card->scratch, GROUP_ACCESS, mode->number)) {
        card->rung = SD_RUNG_DEFAULT;
        return ERR_OK;
    }
    sd_host_delay(host, 10); /* 4.3.10.1: 8 clocks */
    e = sd_bus_set(host, card, mode->hz, card->bits, (enum sd_timing)mode->timing);
    /* SDR104 always needs tuning, SDR50 only if the controller says so. */
    card->tune_index = bits_if(tunes && host->ops->tune != NULL, CMD_TUNE);
    card->tuned_at = host->ticks();
    if (e != ERR_OK || card->tune_index == 0)
        return e;
    return host->ops->tune(host, CMD_TUNE);
}

static enum err speed_up(struct sd_host *host, struct sd_card *card, bool at_1v8)
{
    enum err e;

    if (!card->facts.has_switch || card->best == SD_RUNG_DEFAULT)
        return ERR_OK;
    /* Function 15 changes nothing; the answer lists what the card offers. */
    e = switch_function(host, card, false, 15);
    for (enum sd_rung i = card->best; e == ERR_OK && i < SD_RUNG_DEFAULT; i++) {
        if (may_take(host, card, &modes[i], at_1v8))
            e = take(host, card, i);
        if (card->rung == i)
            break;
    }
    return e;
}

/* Do the whole start, with or without trying 1.8 V. */
static enum err identify(struct sd_host *host, struct sd_card *card, bool want_1v8)
{
    uint32_t ocr = 0;
    bool at_1v8;
    enum err e = wake(host, card, want_1v8, &ocr);

    if (e != ERR_OK)
        return e;
    /* S18A: the card accepts 1.8 V, which only high-capacity cards do. */
    at_1v8 = want_1v8 && (ocr & OCR_1V8) && (ocr & OCR_HIGH_CAPACITY);
    if (at_1v8)
        e = switch_1v8(host);
    if (e == ERR_OK)
        e = select_card(host, card);
    /* CCS: addresses are sectors, not bytes. */
    card->facts.by_sector = (ocr & OCR_HIGH_CAPACITY) != 0;
    if (e == ERR_OK)
        e = widen(host, card);
    /* A card with byte addresses may have another block length. */
    if (e == ERR_OK && !card->facts.by_sector)
        e = sd_bus_command(host, CMD_BLOCK_LENGTH, 512, SD_RESPONSE_SHORT, NULL);
    if (e != ERR_OK)
        return e;
    return speed_up(host, card, at_1v8);
}

static enum err identify_any(struct sd_host *host, struct sd_card *card)
{
    enum err e;

    memset(&card->facts, 0, sizeof card->facts);
    card->tune_index = 0;
    card->rung = SD_RUNG_DEFAULT;
    /* 1.8 V is needed only for the faster modes. */
    e = identify(host, card, (host->abilities & SD_CAN_1V8) && card->best < SD_RUNG_HIGH);
    if (e == ERR_NO_DEVICE && host->identify_emmc != NULL)
        e = host->identify_emmc(host, card);
    return e;
}

/* The speed may have caused a failure, so go down step by step to the slowest speed at 3.3 V, and
 * start the card from the beginning each time. */
enum err sd_bus_identify(struct sd_host *host, struct sd_card *card)
{
    enum err e = identify_any(host, card);

    while (e != ERR_OK && e != ERR_NO_DEVICE && card->why == NULL &&
           card->best != SD_RUNG_DEFAULT) {
        sd_card_step_down(card);
        e = host->ops->reset(host);
        if (e == ERR_OK)
            e = identify_any(host, card);
    }
    if (e == ERR_NO_DEVICE)
        card->why = "no card answers: put one in, and check its contacts";
    else if (e != ERR_OK && card->why == NULL)
        card->why = "the card answers but does not start: clean its contacts or use another card";
    return e;
}
