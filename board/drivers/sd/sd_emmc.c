/* Brings an eMMC from power-on to the transfer state, then to the best speed. Sections are those of
 * JESD84-B51. */
#include <string.h>

#include "board/drivers/sd/sd_bus.h"

enum {
    CMD_IDLE = 0,
    CMD_OP_COND = 1,
    CMD_ALL_CID = 2,
    CMD_SET_RCA = 3,
    CMD_SWITCH = 6,
    CMD_SELECT = 7,
    CMD_EXT_CSD = 8,
    CMD_CSD = 9,
    CMD_STATUS = 13,
    CMD_BLOCK_LENGTH = 16
};

enum { OCR_VOLTAGES = 0x00ff8000, OCR_SECTORS = 1u << 30, OCR_READY = 1u << 31 }; /* 7.1 */
enum { RCA = 1, READY_MICROS = 1500000, ASK_MICROS = 10000 };
enum { STATUS_READY = 1 << 8, STATUS_SWITCH_ERROR = 1 << 7 }; /* 6.13 */
enum { EXT_WIDTH = 183, EXT_TIMING = 185, EXT_TYPES = 196 };  /* 7.4 */
enum { TYPE_HIGH_52 = 1 << 1 };                               /* 7.4.32 */

/* 6.4.2 */
static enum err bring_up(struct sd_host *host, struct sd_card *card, uint32_t *ocr)
{
    uint64_t start = host->ticks(), limit = sd_host_ticks(host, READY_MICROS);

    do {
        /* OCR_SECTORS tells the card that this host supports addresses in sectors. */
        enum err e = sd_bus_command(host, CMD_OP_COND, OCR_VOLTAGES | OCR_SECTORS, SD_RESPONSE_OCR,
                                    ocr);

        if (e != ERR_OK)
            return ERR_NO_DEVICE;
        if (*ocr & OCR_READY)
            return ERR_OK;
        sd_host_delay(host, ASK_MICROS);
    } while (host->ticks() - start < limit);
    card->why = "the eMMC does not become ready after power-up";
    return ERR_TIMEOUT;
}

static enum err select_emmc(struct sd_host *host, struct sd_card *card)
{
    uint32_t csd[4];
    enum err e = sd_bus_command(host, CMD_ALL_CID, 0, SD_RESPONSE_LONG, card->facts.cid);

    /* Here the host chooses the address, unlike on an SD bus. */
    card->rca = RCA;
    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_SET_RCA, RCA << 16, SD_RESPONSE_SHORT, NULL);
    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_CSD, RCA << 16, SD_RESPONSE_LONG, csd);
    if (e == ERR_OK)
        e = sd_facts_emmc_csd(&card->facts, csd);
    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_SELECT, RCA << 16, SD_RESPONSE_SHORT_BUSY, NULL);
    if (e == ERR_OK && !card->facts.by_sector)
        e = sd_bus_command(host, CMD_BLOCK_LENGTH, 512, SD_RESPONSE_SHORT, NULL);
    return e;
}

/* Write one byte of EXT_CSD, then ask whether it was accepted (6.6.1). */
static enum err switch_byte(struct sd_host *host, unsigned index, unsigned value)
{
    enum { WRITE_BYTE = 3 };
    uint32_t status = 0;
    enum err e = sd_bus_command(host, CMD_SWITCH, WRITE_BYTE << 24 | index << 16 | value << 8,
                                SD_RESPONSE_SHORT_BUSY, NULL);

    if (e == ERR_OK)
        e = sd_bus_command(host, CMD_STATUS, RCA << 16, SD_RESPONSE_SHORT, &status);
    /* The command after the switch reports SWITCH_ERROR. */
    if (e == ERR_OK && (!(status & STATUS_READY) || (status & STATUS_SWITCH_ERROR)))
        e = ERR_IO;
    return e;
}

/* Set the width on both sides (6.6.4), and check that data arrive over all lines: EXT_CSD is read
 * again and must contain the same size. */
static enum err try_width(struct sd_host *host, struct sd_card *card, unsigned bits)
{
    enum { WIDTH_1 = 0, WIDTH_4 = 1, WIDTH_8 = 2 };
    struct sd_facts again = card->facts;
    unsigned width = bits == 8 ? WIDTH_8 : WIDTH_4;
    enum err e = switch_byte(host, EXT_WIDTH, bits == 1 ? WIDTH_1 : width);

    if (e == ERR_OK)
        e = sd_bus_set(host, card, card->hz, bits, card->timing);
    if (e == ERR_OK)
        e = sd_bus_read(host, CMD_EXT_CSD, 0, card->scratch, SD_EXT_CSD_BYTES);
    if (e != ERR_OK)
        return e;
    sd_facts_emmc_ext_csd(&again, card->scratch);
    return err_unless(again.n_sectors == card->facts.n_sectors, ERR_IO);
}

/* Use as many lines as the board has; a controller knows only how many lines it has itself. */
static enum err widen(struct sd_host *host, struct sd_card *card)
{
    static const struct {
        unsigned bits;
        uint32_t ability;
    } widths[] = { { 8, SD_CAN_8_BITS }, { 4, SD_CAN_4_BITS } };

    for (unsigned i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        if ((host->abilities & widths[i].ability) &&
            try_width(host, card, widths[i].bits) == ERR_OK)
            return ERR_OK;
    }
    return card->bits == 1 ? ERR_OK : try_width(host, card, 1);
}

/* Set the timing, then the width (6.6.2, 6.6.4). High speed moves 52 MB/s at 8 bits. HS200 and
 * DDR52 need 1.8 V, which boards would have to switch. */
static enum err speed_up(struct sd_host *host, struct sd_card *card)
{
    enum { TIMING_HIGH = 1 };
    uint8_t types = card->scratch[EXT_TYPES];
    enum err e = ERR_OK;

    if (card->best <= SD_RUNG_HIGH && (host->abilities & SD_CAN_HIGH_SPEED) &&
        (types & TYPE_HIGH_52)) {
        card->rung = SD_RUNG_HIGH;
        e = switch_byte(host, EXT_TIMING, TIMING_HIGH);
        if (e == ERR_OK)
            e = sd_bus_set(host, card, 52000000, 1, SD_TIMING_HIGH);
    }
    if (e != ERR_OK)
        return e;
    return widen(host, card);
}

enum err sd_emmc_identify(struct sd_host *host, struct sd_card *card)
{
    uint32_t ocr = 0;
    enum err e;

    memset(&card->facts, 0, sizeof card->facts);
    card->facts.is_emmc = true;
    e = sd_bus_command(host, CMD_IDLE, 0, SD_RESPONSE_NONE, NULL);
    if (e == ERR_OK)
        e = bring_up(host, card, &ocr);
    if (e != ERR_OK)
        return e;
    card->facts.by_sector = (ocr & OCR_SECTORS) != 0;
    e = select_emmc(host, card);
    if (e == ERR_OK)
        e = sd_bus_set(host, card, card->facts.max_hz, 1, SD_TIMING_DEFAULT);
    if (e == ERR_OK && card->facts.has_switch) {
        e = sd_bus_read(host, CMD_EXT_CSD, 0, card->scratch, SD_EXT_CSD_BYTES);
        if (e == ERR_OK) {
            sd_facts_emmc_ext_csd(&card->facts, card->scratch);
            e = speed_up(host, card);
        }
    }
    if (e != ERR_OK && card->best == SD_RUNG_DEFAULT)
        card->why = "the eMMC answers but does not start";
    return e;
}
