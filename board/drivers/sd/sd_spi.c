#include "board/drivers/sd/sd_spi.h"

#include <stdbool.h>

#include "board/drivers/sd/sd_card.h"
#include "board/min_max.h"

enum {
    CMD_IDLE = 0,
    CMD_IF_COND = 8,
    CMD_CSD = 9,
    CMD_CID = 10,
    CMD_STOP = 12,
    CMD_STATUS = 13,
    CMD_BLOCK_LENGTH = 16,
    CMD_READ_ONE = 17,
    CMD_APP = 55,
    CMD_OCR = 58,
    CMD_CRC = 59,
    ACMD_OP_COND = 41,
};

/* Bits of R1 (7.3.2.1); bit 7 is set only if there is no answer. */
enum { R1_IDLE = 1 << 0, R1_ILLEGAL = 1 << 2, R1_CRC = 1 << 3, R1_ERRORS = 0x7e, R1_NONE = 0x80 };

enum {
    IF_COND = 0x1aa,             /* 4.3.13: 2.7 to 3.6 V, and a pattern that the card repeats */
    OCR_HIGH_CAPACITY = 1 << 30, /* 5.1; in the argument of ACMD41: the host supports SDHC */
    TOKEN_DATA =
        0xfe, /* 7.3.3.2, like the next two: before each read block and a single written one */
    TOKEN_MANY = 0xfc, /* before each of several written blocks; TOKEN_STOP follows the last */
    TOKEN_STOP = 0xfd,
    RESPONSE_MASK = 0x1f, /* 7.3.3.1: data response, three bits between a 0 and a 1 */
    RESPONSE_SHAPE_MASK = 0x11,
    RESPONSE_SHAPE = 0x01,
    RESPONSE_TAKEN = 0x05,
    TOKEN_ERROR_MAX = 0x0f, /* 7.3.3.3: data error tokens */
    REGISTER_BYTES = 16,
};

enum {
    START_HZ = 400000,
    FULL_HZ = 25000000,
    WAKE_BYTES = 10,   /* 6.4.1: at least 74 clocks */
    ANSWER_BYTES = 9,  /* N_CR (table 7-5): up to 8 bytes of ones, then the answer */
    READY_BYTES = 256, /* bytes to wait before a command; a card that is only read is hardly ever
                          busy */
    STOP_BYTES = 1024,
    LOOKS = 16, /* bytes that one poll waits for a token */
    IDLE_TRIES = 8,
    READY_MICROS = 1500000, /* 4.2.3: a card takes up to a second */
};

static struct sd_spi *sd_spi_of(struct sd_host *host)
{
    return (struct sd_spi *)host;
}

/* The polynomial is x^7 + x^3 + 1; bit by bit suffices, because a command has five bytes. */
uint8_t sd_spi_crc7(const uint8_t *data, size_t bytes)
{
    unsigned crc = 0; /* shifted left by one bit, to make room for the end bit */

    for (size_t i = 0; i < bytes; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = (crc & 0x80 ? crc ^ 0x89 : crc) << 1;
    }
    return (uint8_t)((crc & 0xfe) | 1);
}

/* The polynomial is x^16 + x^12 + x^5 + 1; each step applies it to eight
 * bits. */
uint16_t sd_spi_crc16(const uint8_t *data, size_t bytes)
{
    uint32_t crc = 0;

    for (size_t i = 0; i < bytes; i++) {
        crc = (crc >> 8 | crc << 8) & 0xffff;
        crc ^= data[i];
        crc ^= (crc & 0xff) >> 4;
        crc ^= crc << 12 & 0xffff;
        crc ^= (crc & 0xff) << 5;
    }
    return (uint16_t)crc;
}

static uint8_t sd_spi_byte(const struct sd_spi *spi)
{
    uint8_t byte;

    spi->bus->exchange(spi->bus, NULL, &byte, 1);
    return byte;
}

/* The card pulls its output low while it is busy (7.2.4). */
static bool sd_spi_wait_ready(const struct sd_spi *spi, unsigned bytes)
{
    while (bytes-- > 0)
        if (sd_spi_byte(spi) == 0xff)
            return true;
    return false;
}

/* Send and read R1; the card stays selected. */
static uint8_t sd_spi_send(const struct sd_spi *spi, unsigned index, uint32_t argument)
{
    uint8_t frame[6] = { (uint8_t)(0x40 | index), (uint8_t)(argument >> 24),
                         (uint8_t)(argument >> 16), (uint8_t)(argument >> 8), (uint8_t)argument };
    uint8_t answer = 0xff;

    /* The card checks CRCs from CMD59 on; CMD0 and CMD8 need a valid CRC even before (7.2.2). */
    frame[5] = sd_spi_crc7(frame, 5);
    spi->bus->exchange(spi->bus, frame, NULL, sizeof frame);
    if (index == CMD_STOP)
        (void)sd_spi_byte(spi); /* skip a byte of data that was on its way (7.2.3) */
    for (int i = 0; i < ANSWER_BYTES && (answer & R1_NONE) != 0; i++)
        answer = sd_spi_byte(spi);
    return answer;
}

/* Send eight more clocks, after which a card releases its wire. */
static void sd_spi_release(struct sd_spi *spi)
{
    spi->bus->select(spi->bus, false);
    spi->bus->idle(spi->bus, 1);
    spi->state = SD_SPI_IDLE;
}

/* Run a command without data; returns R1, and puts the 4 bytes after it (R3, R7) into *reply,
 * unless reply is NULL. */
static uint8_t sd_spi_short(struct sd_spi *spi, unsigned index, uint32_t argument, uint32_t *reply)
{
    uint8_t answer, bytes[4];

    spi->bus->select(spi->bus, true);
    /* Send the command even if the card stays busy: its answer shows what is wrong. */
    (void)sd_spi_wait_ready(spi, READY_BYTES);
    answer = sd_spi_send(spi, index, argument);
    /* R3 and R7 are R1 with four more bytes, which an illegal command does not return. */
    if (reply != NULL && (answer & (R1_NONE | R1_ERRORS)) == 0) {
        spi->bus->exchange(spi->bus, NULL, bytes, sizeof bytes);
        *reply = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
                 bytes[3];
    }
    sd_spi_release(spi);
    return answer;
}

/* ---- struct sd_host -------------------------------------------------------------------------- */

static enum err sd_spi_fail(struct sd_spi *spi, enum sd_fault fault, enum err e)
{
    spi->command->fault = fault;
    return e;
}

/* Ask for R2: R1 and one more byte, in which every bit is an error (7.3.2.3). QEMU 10.0 treats
 * CMD13 as illegal in SPI mode and logs that, so CMD13 is sent only once; afterwards only the data
 * responses report about a write. */
static uint8_t sd_spi_ask_status(struct sd_spi *spi, uint32_t *reply)
{
    uint8_t answer = spi->no_status ? 0 : sd_spi_send(spi, CMD_STATUS, 0);

    spi->no_status = spi->no_status || (answer & (R1_NONE | R1_ILLEGAL)) == R1_ILLEGAL;
    *reply = spi->no_status ? 0 : (uint32_t)answer << 8 | sd_spi_byte(spi);
    return spi->no_status ? 0 : answer;
}

static enum err sd_spi_start(struct sd_host *host, struct sd_command *command)
{
    struct sd_spi *spi = sd_spi_of(host);
    uint8_t answer;

    spi->command = command;
    spi->blocks_done = 0;
    spi->bus->select(spi->bus, true);
    /* The card may still be storing the data of the last command. */
    if (!sd_spi_wait_ready(spi, READY_BYTES))
        return sd_spi_fail(spi, SD_FAULT_COMMAND_TIMEOUT, ERR_TIMEOUT);
    if (command->index == CMD_STATUS)
        answer = sd_spi_ask_status(spi, &command->reply[0]);
    else
        command->reply[0] = answer = sd_spi_send(spi, command->index, command->argument);
    /* No answer, or an unknown command: treat both as a missing card. */
    if ((answer & (R1_NONE | R1_ILLEGAL)) != 0)
        return sd_spi_fail(spi, SD_FAULT_COMMAND_TIMEOUT, ERR_TIMEOUT);
    if ((answer & R1_CRC) != 0)
        return sd_spi_fail(spi, SD_FAULT_COMMAND, ERR_IO);
    if ((answer & R1_ERRORS) != 0)
        return sd_spi_fail(spi, SD_FAULT_DATA, ERR_IO);
    /* After R1 comes a block from the card, a busy signal, or a block to the card. */
    spi->state = SD_SPI_TOKEN;
    if (command->data == NULL)
        spi->state = SD_SPI_BUSY;
    else if (command->write)
        spi->state = SD_SPI_GIVE;
    return ERR_OK;
}

/* Read the block and its CRC, which follow the token. */
static enum err sd_spi_take_block(struct sd_spi *spi)
{
    struct sd_command *command = spi->command;
    uint8_t *block = command->data + (size_t)spi->blocks_done * command->block_bytes, crc[2];

    spi->bus->exchange(spi->bus, NULL, block, command->block_bytes);
    spi->bus->exchange(spi->bus, NULL, crc, sizeof crc);
    if (sd_spi_crc16(block, command->block_bytes) != (crc[0] << 8 | crc[1]))
        return sd_spi_fail(spi, SD_FAULT_DATA, ERR_IO);
    spi->host.moved++;
    /* CMD17 ends by itself; CMD18 sends block after block until CMD12. */
    if (++spi->blocks_done < command->n_blocks)
        return ERR_BUSY;
    if (command->closing == SD_CLOSE_ITSELF) {
        sd_spi_release(spi);
        return ERR_OK;
    }
    if ((sd_spi_send(spi, CMD_STOP, 0) & (R1_NONE | R1_ERRORS)) != 0)
        return sd_spi_fail(spi, SD_FAULT_COMMAND_TIMEOUT, ERR_TIMEOUT);
    spi->state = SD_SPI_BUSY;
    return ERR_BUSY;
}

static enum err sd_spi_poll_token(struct sd_spi *spi)
{
    for (int i = 0; i < LOOKS; i++) {
        uint8_t token = sd_spi_byte(spi);

        if (token == TOKEN_DATA)
            return sd_spi_take_block(spi);
        if (token <= TOKEN_ERROR_MAX)
            return sd_spi_fail(spi, SD_FAULT_DATA, ERR_IO);
    }
    return ERR_BUSY;
}

/* Send token, block and CRC; the card answers whether it took them. */
static enum err sd_spi_give_block(struct sd_spi *spi)
{
    struct sd_command *command = spi->command;
    const uint8_t *block = command->data + (size_t)spi->blocks_done * command->block_bytes;
    uint16_t crc = sd_spi_crc16(block, command->block_bytes);
    uint8_t token = command->closing == SD_CLOSE_ITSELF ? TOKEN_DATA : TOKEN_MANY;
    uint8_t tail[2] = { (uint8_t)(crc >> 8), (uint8_t)crc }, response = 0xff;

    /* Start token, data, CRC16 (7.3.3). */
    spi->bus->exchange(spi->bus, &token, NULL, 1);
    spi->bus->exchange(spi->bus, block, NULL, command->block_bytes);
    spi->bus->exchange(spi->bus, tail, NULL, sizeof tail);
    /* Skip bytes of ones before the data response. */
    for (int i = 0; i < ANSWER_BYTES && (response & RESPONSE_SHAPE_MASK) != RESPONSE_SHAPE; i++)
        response = sd_spi_byte(spi);
    /* CRC error or write error: the card has not stored the block, and takes no further one. */
    if ((response & RESPONSE_MASK) != RESPONSE_TAKEN)
        return sd_spi_fail(spi, SD_FAULT_DATA, ERR_IO);
    spi->host.moved++;
    if (++spi->blocks_done == command->n_blocks && command->closing == SD_CLOSE_ITSELF)
        spi->state = SD_SPI_BUSY;
    return ERR_BUSY;
}

/* The card is busy while it stores a block; then it takes the next block or the stop token. One
 * byte after the stop token the card is busy again (7.2.4). */
static enum err sd_spi_poll_give(struct sd_spi *spi)
{
    static const uint8_t stop = TOKEN_STOP;

    if (!sd_spi_wait_ready(spi, LOOKS))
        return ERR_BUSY;
    if (spi->blocks_done < spi->command->n_blocks)
        return sd_spi_give_block(spi);
    /* All blocks are stored: send the stop token instead of CMD12 (7.2.4). */
    spi->bus->exchange(spi->bus, &stop, NULL, 1);
    (void)sd_spi_byte(spi);
    spi->state = SD_SPI_BUSY;
    return ERR_BUSY;
}

static enum err sd_spi_poll(struct sd_host *host)
{
    struct sd_spi *spi = sd_spi_of(host);

    if (spi->state == SD_SPI_GIVE)
        return sd_spi_poll_give(spi);
    if (spi->state == SD_SPI_TOKEN)
        return sd_spi_poll_token(spi);
    if (spi->state == SD_SPI_BUSY && !sd_spi_wait_ready(spi, LOOKS))
        return ERR_BUSY;
    sd_spi_release(spi);
    return ERR_OK;
}

/* Stop a card, which otherwise continues to send blocks or to wait for them. */
static void sd_spi_stop(struct sd_host *host)
{
    struct sd_spi *spi = sd_spi_of(host);

    if ((spi->state == SD_SPI_TOKEN || spi->state == SD_SPI_GIVE) &&
        spi->command->closing != SD_CLOSE_ITSELF) {
        (void)sd_spi_send(spi, CMD_STOP, 0);
        (void)sd_spi_wait_ready(spi, STOP_BYTES);
    }
    sd_spi_release(spi);
}

static enum err sd_spi_reset(struct sd_host *host)
{
    struct sd_spi *spi = sd_spi_of(host);

    spi->bus->select(spi->bus, false);
    spi->bus->set_hz(spi->bus, START_HZ);
    /* A card accepts CMD0 only at 400 kHz or less, and only after clocks during which no card is
     * selected and the data line is high (6.4.1). */
    spi->bus->idle(spi->bus, WAKE_BYTES);
    spi->state = SD_SPI_IDLE;
    return ERR_OK;
}

static enum err sd_spi_set_bus(struct sd_host *host, uint32_t hz, unsigned bits,
                               enum sd_timing timing)
{
    struct sd_spi *spi = sd_spi_of(host);

    (void)bits;
    (void)timing;
    spi->bus->set_hz(spi->bus, hz);
    return ERR_OK;
}

/* ---- from power-on to data (7.2.1, figure 7-2) ------------------------------------------ */

static bool sd_spi_go_idle(struct sd_spi *spi)
{
    for (int i = 0; i < IDLE_TRIES; i++)
        if (sd_spi_short(spi, CMD_IDLE, 0, NULL) == R1_IDLE)
            return true;
    return false;
}

/* Cards before version 2 do not know CMD8. ERR_UNSUPPORTED: the card does not accept our 3.3 V. */
static enum err sd_spi_ask_version(struct sd_spi *spi, uint32_t *capacity)
{
    uint32_t reply = 0;
    uint8_t answer = sd_spi_short(spi, CMD_IF_COND, IF_COND, &reply);

    *capacity = (answer & R1_ILLEGAL) != 0 ? 0 : OCR_HIGH_CAPACITY;
    return err_unless(*capacity == 0 || (reply & 0xfff) == IF_COND, ERR_UNSUPPORTED);
}

static enum err sd_spi_wait_start(struct sd_spi *spi, uint32_t capacity)
{
    uint64_t start = spi->host.ticks(), limit = sd_host_ticks(&spi->host, READY_MICROS);
    uint8_t answer;

    do {
        /* ACMD41, repeated until the card has left the idle state. */
        (void)sd_spi_short(spi, CMD_APP, 0, NULL);
        answer = sd_spi_short(spi, ACMD_OP_COND, capacity, NULL);
        if (answer == 0)
            return ERR_OK;
        if ((answer & R1_ILLEGAL) != 0)
            return ERR_UNSUPPORTED;
    } while (spi->host.ticks() - start < limit);
    return ERR_TIMEOUT;
}

static bool sd_spi_read_block(struct sd_spi *spi, struct sd_card *card, unsigned index,
                              uint32_t argument, uint32_t bytes)
{
    struct sd_command command = { .index = (uint8_t)index,
                                  .argument = argument,
                                  .closing = SD_CLOSE_ITSELF,
                                  .data = card->scratch,
                                  .block_bytes = bytes,
                                  .n_blocks = 1 };

    if (sd_host_run(&spi->host, &command) == ERR_OK)
        return true;
    /* QEMU repeats the error in the next answer, so send a command that changes nothing. */
    (void)sd_spi_short(spi, CMD_BLOCK_LENGTH, SECTOR_BYTES, NULL);
    return false;
}

/* Measure the capacity if the CSD cannot be read: QEMU 9.1 to 10.0 treats CMD_CSD as illegal in SPI
 * mode. Reading sectors gives the number of sectors bit by bit. */
static void sd_spi_measure(struct sd_spi *spi, struct sd_card *card)
{
    unsigned shift = card->facts.by_sector ? 0 : 9;
    uint64_t n = 0;

    for (int bit = 31 - (int)shift; bit >= 0; bit--) {
        /* If `more` sectors exist, the number has this bit. */
        uint64_t more = n + ((uint64_t)1 << bit);

        if (sd_spi_read_block(spi, card, CMD_READ_ONE, (uint32_t)((more - 1) << shift),
                              SECTOR_BYTES))
            n = more;
    }
    card->facts.n_sectors = n;
    card->facts.max_hz = FULL_HZ;
}

static enum err sd_spi_read_facts(struct sd_spi *spi, struct sd_card *card, uint32_t ocr)
{
    uint32_t csd[4];
    enum err e = ERR_OK;

    card->facts.by_sector = (ocr & OCR_HIGH_CAPACITY) != 0;
    if (!card->facts.by_sector) /* the block length of other cards is fixed */
        (void)sd_spi_short(spi, CMD_BLOCK_LENGTH, SECTOR_BYTES, NULL);
    /* Read capacity and speed (5.3), then the card's name (5.2), which may be missing. */
    if (sd_spi_read_block(spi, card, CMD_CSD, 0, REGISTER_BYTES)) {
        sd_facts_words(csd, card->scratch);
        e = sd_facts_csd(&card->facts, csd);
    } else {
        sd_spi_measure(spi, card);
    }
    if (sd_spi_read_block(spi, card, CMD_CID, 0, REGISTER_BYTES))
        sd_facts_words(card->facts.cid, card->scratch);
    if (e == ERR_OK && card->facts.n_sectors != 0)
        return ERR_OK;
    card->why = "the card does not report its size: use another one";
    if (e != ERR_OK)
        return e;
    return ERR_IO;
}

static void sd_spi_full_speed(struct sd_spi *spi, struct sd_card *card)
{
    card->hz = min_u32(card->facts.max_hz, spi->host.max_hz);
    card->bits = 1;
    card->timing = SD_TIMING_DEFAULT;
    spi->bus->set_hz(spi->bus, card->hz);
}

static enum err sd_spi_identify(struct sd_host *host, struct sd_card *card)
{
    struct sd_spi *spi = sd_spi_of(host);
    uint32_t capacity = 0, ocr = 0;
    enum err e;

    card->facts = (struct sd_facts){ .n_sectors = 0 };
    spi->no_status = false;
    /* Figure 7-2: CMD0, CMD8, ACMD41, CMD58. */
    if (!sd_spi_go_idle(spi))
        return ERR_NO_DEVICE;
    e = sd_spi_ask_version(spi, &capacity);
    if (e == ERR_OK)
        e = sd_spi_wait_start(spi, capacity);
    if (e != ERR_OK) {
        card->why = e == ERR_TIMEOUT ? "the card does not become ready: use another one"
                                     : "the device in the slot is not an SD card for 3.3 V";
        return e;
    }
    /* Switch CRCs on: without them a loose wire would damage files unnoticed. */
    if (((sd_spi_short(spi, CMD_CRC, 1, NULL) | sd_spi_short(spi, CMD_OCR, 0, &ocr)) &
         (R1_NONE | R1_ERRORS)) != 0) {
        card->why = "the card does not support checksums: use another one";
        return ERR_UNSUPPORTED;
    }
    e = sd_spi_read_facts(spi, card, ocr);
    if (e == ERR_OK)
        sd_spi_full_speed(spi, card);
    return e;
}

void sd_spi_init(struct sd_spi *spi, struct spi_bus *bus, uint32_t max_hz, uint64_t (*ticks)(void),
                 uint64_t ticks_hz)
{
    static const struct sd_host_ops ops = {
        .start = sd_spi_start,
        .poll = sd_spi_poll,
        .stop = sd_spi_stop,
        .reset = sd_spi_reset,
        .set_bus = sd_spi_set_bus,
        .identify = sd_spi_identify,
    };

    *spi = (struct sd_spi) {
        .host = {
            .ops = &ops,
            .ticks = ticks,
            .ticks_hz = ticks_hz,
            .abilities = SD_STOPS | SD_IS_SPI | SD_CAN_WRITE,
            .max_hz = min_u32(max_hz, FULL_HZ),
            .max_blocks = SD_CARD_MAX_SECTORS,
        },
        .bus = bus,
    };
}
