/* The block device over an identified card. Sections are those of the Physical Layer Simplified
 * Specification 6.00. */
#include "board/drivers/sd/sd_card.h"

#include <string.h>

#include "board/drivers/soc/device_name.h"
#include "board/min_max.h"

enum {
    CMD_STOP = 12,
    CMD_STATUS = 13,
    CMD_READ_ONE = 17,
    CMD_READ_MANY = 18,
    CMD_COUNT = 23,
    CMD_WRITE_ONE = 24,
    CMD_WRITE_MANY = 25
};

enum { /* card status, table 4-42 */
       STATUS_STATE = 15 << 9,
       STATUS_TRANSFER = 4 << 9,
       STATUS_READY = 1 << 8,
       STATUS_OUT_OF_RANGE = 3u << 30,                                       /* and ADDRESS_ERROR */
       STATUS_FAILED = 1u << 29 | 1u << 26 | 1u << 21 | 1u << 20 | 1u << 19, /* errors: length,
                                write protection, ECC, controller, general */
       STATUS_UNSTORED = STATUS_OUT_OF_RANGE | STATUS_FAILED, /* errors after a write's data */
};

enum {
    TRIES = 3,               /* retries of a request; the file layer adds its own */
    WAIT_MICROS = 1000,      /* pause before the first retry, doubled for each further one */
    SILENT_MICROS = 1000000, /* ten times the limit of 4.6.2.1 for a read */
    PAUSE_MICROS = 2000000,  /* pause between two checks for a lost card */
    GAPS = 8,                /* a gap between two polls counts as at most limit / GAPS */
};

static struct block_request *sd_card_request(const struct sd_card *card)
{
    return card->queue[card->first];
}

static void sd_card_finish(struct sd_card *card, enum err status)
{
    struct block_request *req = sd_card_request(card);

    card->first = (card->first + 1) % SD_CARD_DEPTH;
    card->n_queued--;
    card->tries = 0;
    card->state = SD_CARD_IDLE;
    req->status = status;
    req->done = true;
}

static void sd_card_lose(struct sd_card *card, enum err status)
{
    while (card->n_queued > 0)
        sd_card_finish(card, status);
    card->state = SD_CARD_LOST;
    card->lost = status;
    card->lost_at = card->host->ticks();
}

static bool sd_card_is_out(const struct sd_card *card)
{
    const struct sd_host_ops *ops = card->host->ops;

    return ops->is_present != NULL && !ops->is_present(card->host);
}

static enum err sd_card_identify(struct sd_card *card)
{
    struct sd_host *host = card->host;
    enum err e;

    card->why = NULL;
    if (sd_card_is_out(card)) {
        card->why = "there is no card in the slot";
        return ERR_NO_DEVICE;
    }
    e = host->ops->reset(host);
    if (e != ERR_OK) {
        card->why = "the SD controller does not reset";
        return e;
    }
    return host->ops->identify(host, card);
}

/* Start the same card again after an error. */
static enum err sd_card_restart(struct sd_card *card)
{
    struct sd_facts before = card->facts;
    enum err e = sd_card_identify(card);

    /* The CID is unique. If it differs, this is another card, and cached sectors are wrong. */
    if (e == ERR_OK && (memcmp(before.cid, card->facts.cid, sizeof before.cid) != 0 ||
                        before.n_sectors != card->facts.n_sectors)) {
        card->facts = before;
        card->why = "another card is in the slot";
        return ERR_REMOVED;
    }
    if (e != ERR_OK)
        card->facts = before;
    if (e == ERR_NO_DEVICE)
        return ERR_REMOVED;
    return e;
}

static enum err sd_card_send(struct sd_card *card, unsigned index, uint32_t argument,
                             enum sd_response response)
{
    card->command =
        (struct sd_command){ .index = (uint8_t)index, .argument = argument, .response = response };
    return card->host->ops->start(card->host, &card->command);
}

/* Choose how a transfer of several blocks ends; send CMD23 first if the host cannot stop a
 * transfer. The response to CMD23 takes microseconds. */
static enum sd_closing sd_card_closing(struct sd_card *card, uint32_t n_blocks, bool write)
{
    struct sd_command count = { .index = CMD_COUNT,
                                .argument = n_blocks,
                                .response = SD_RESPONSE_SHORT };

    if (n_blocks == 1)
        return SD_CLOSE_ITSELF;
    /* CMD12's answer reports errors of a write (4.10.1); some controllers store it elsewhere. */
    if ((card->host->abilities & SD_STOPS) && (!write || (card->host->abilities & SD_IS_SPI)))
        return SD_CLOSE_STOP;
    if (card->facts.has_count && sd_host_run(card->host, &count) == ERR_OK)
        return SD_CLOSE_ITSELF;
    card->needs_stop = true;
    return SD_CLOSE_ITSELF;
}

/* Tune again in time, because temperature moves the sampling point (host 2.2.25, re-tuning). */
static enum err sd_card_keep_tuned(struct sd_card *card)
{
    struct sd_host *host = card->host;

    if (card->tune_index == 0 ||
        (!host->wants_tuning &&
         (host->retune_ticks == 0 || host->ticks() - card->tuned_at < host->retune_ticks)))
        return ERR_OK;
    card->n_retunes++;
    card->tuned_at = host->ticks();
    /* If tuning fails, go on as after damaged data. */
    card->command.fault = SD_FAULT_DATA;
    return host->ops->tune(host, card->tune_index);
}

/* 4.3.3, 4.3.4 */
static unsigned sd_card_index(const struct block_request *req)
{
    if (req->write)
        return req->n_sectors == 1 ? CMD_WRITE_ONE : CMD_WRITE_MANY;
    return req->n_sectors == 1 ? CMD_READ_ONE : CMD_READ_MANY;
}

static enum err sd_card_move(struct sd_card *card)
{
    const struct block_request *req = sd_card_request(card);
    uint64_t address = card->facts.by_sector ? req->sector : req->sector * SECTOR_BYTES;
    enum sd_closing closing;
    enum err e = sd_card_keep_tuned(card);

    if (e != ERR_OK)
        return e;
    card->needs_stop = false;
    closing = sd_card_closing(card, req->n_sectors, req->write);
    card->command = (struct sd_command){
        .index = (uint8_t)sd_card_index(req),
        .argument = (uint32_t)address,
        .response = SD_RESPONSE_SHORT,
        .closing = closing,
        .write = req->write,
        .data = req->buffer,
        .block_bytes = SECTOR_BYTES,
        .n_blocks = req->n_sectors,
    };
    card->state = SD_CARD_MOVE;
    card->silent_ticks = 0;
    card->polled_at = card->host->ticks();
    return card->host->ops->start(card->host, &card->command);
}

/* CMD12 and CMD13 return a healthy card to the transfer state (figure 4-13). In that state CMD12 is
 * illegal but harmless. */
static bool sd_card_settle(struct sd_card *card)
{
    struct sd_command stop = { .index = CMD_STOP, .response = SD_RESPONSE_SHORT_BUSY };
    struct sd_command status = { .index = CMD_STATUS,
                                 .argument = (uint32_t)card->rca << 16,
                                 .response = SD_RESPONSE_SHORT };

    (void)sd_host_run(card->host, &stop);
    return sd_host_run(card->host, &status) == ERR_OK &&
           (status.reply[0] & STATUS_STATE) == STATUS_TRANSFER;
}

/* If no mode was chosen yet, either the change to 1.8 V or the card has failed. */
void sd_card_step_down(struct sd_card *card)
{
    bool at_1v8 = (card->host->abilities & SD_CAN_1V8) && card->best < SD_RUNG_HIGH;

    if (card->rung != SD_RUNG_DEFAULT)
        card->best = card->rung + 1;
    else
        card->best = at_1v8 ? SD_RUNG_HIGH : SD_RUNG_DEFAULT;
}

/* Prepare the next try: first with a better sampling point, then with a slower and simpler bus; a
 * silent card is started again. */
static enum err sd_card_cure(struct sd_card *card, enum sd_fault fault)
{
    bool garbled = fault == SD_FAULT_DATA || fault == SD_FAULT_COMMAND;

    if (card->host->abilities & SD_IS_SPI)
        return sd_card_restart(card);
    /* The card is not back in the transfer state, or failed again: start it again, one step slower
     * after damaged data. */
    if (!sd_card_settle(card) || card->tries > 1) {
        if (garbled && card->tries > 1)
            sd_card_step_down(card);
        return sd_card_restart(card);
    }
    if (!garbled || card->tune_index == 0)
        return ERR_OK;
    /* Data were damaged once: look for a better sampling point before reducing speed. */
    card->n_retunes++;
    card->tuned_at = card->host->ticks();
    if (card->host->ops->tune(card->host, card->tune_index) == ERR_OK)
        return ERR_OK;
    sd_card_step_down(card);
    return sd_card_restart(card);
}

static void sd_card_fail(struct sd_card *card, enum err e)
{
    enum sd_fault fault = card->command.fault;
    enum err cured;

    /* Stop the controller first: no data may arrive while the card is restored. */
    card->host->ops->stop(card->host);
    card->n_errors++;
    card->tries++;
    if (fault == SD_FAULT_REMOVED || sd_card_is_out(card)) {
        sd_card_lose(card, ERR_REMOVED);
        return;
    }
    cured = sd_card_cure(card, fault);
    if (cured != ERR_OK) {
        sd_card_lose(card, sd_card_is_out(card) || cured == ERR_REMOVED ? ERR_REMOVED : e);
        return;
    }
    if (card->tries > TRIES) {
        sd_card_finish(card, e);
        return;
    }
    card->state = SD_CARD_WAIT;
    card->polled_at = card->host->ticks();
    card->wait_ticks = sd_host_ticks(card->host, (uint64_t)WAIT_MICROS << card->tries);
}

/* Check the errors in the response to a transfer; with SPI, they are in the tokens. */
static enum err sd_card_check_status(const struct sd_card *card)
{
    uint32_t status = card->command.reply[0];

    if (card->host->abilities & SD_IS_SPI)
        return ERR_OK;
    if (status & STATUS_OUT_OF_RANGE)
        return ERR_RANGE;
    return err_unless((status & STATUS_FAILED) == 0, ERR_IO);
}

/* A read is complete when its data have arrived; a write is complete only when the card has stored
 * the data, because a power cut before that would lose them (4.3.4). */
static enum err sd_card_conclude(struct sd_card *card)
{
    if (!sd_card_request(card)->write) {
        sd_card_finish(card, ERR_OK);
        return ERR_OK;
    }
    card->state = SD_CARD_STORE;
    return sd_card_send(card, CMD_STATUS, (uint32_t)card->rca << 16, SD_RESPONSE_SHORT);
}

static enum err sd_card_moved(struct sd_card *card)
{
    enum err e = sd_card_check_status(card);

    /* The caller asked for sectors beyond the end: another attempt would fail in the same way. */
    if (e == ERR_RANGE) {
        (void)sd_card_settle(card);
        sd_card_finish(card, ERR_RANGE);
        return ERR_OK;
    }
    if (e != ERR_OK)
        return e;
    if (!card->needs_stop)
        return sd_card_conclude(card);
    card->state = SD_CARD_STOP;
    return sd_card_send(card, CMD_STOP, 0, SD_RESPONSE_SHORT_BUSY);
}

static enum err sd_card_stored(struct sd_card *card)
{
    const uint32_t done = STATUS_TRANSFER | STATUS_READY;
    uint32_t status = card->command.reply[0];
    bool spi = (card->host->abilities & SD_IS_SPI) != 0; /* R2 is 0 or an error (7.3.2.3) */
    enum err e;

    if (spi ? status != 0 : (status & STATUS_UNSTORED) != 0)
        return ERR_IO;
    if (spi || (status & (STATUS_STATE | STATUS_READY)) == done) {
        sd_card_finish(card, ERR_OK);
        return ERR_OK;
    }
    /* The card is still programming: ask again. */
    e = sd_card_send(card, CMD_STATUS, (uint32_t)card->rca << 16, SD_RESPONSE_SHORT);
    if (e != ERR_OK)
        return e;
    return ERR_BUSY; /* the caller can do other work meanwhile */
}

/* Check the answer to CMD12. The answer reports errors from storing the blocks of a write and
 * clears them (4.10.1), so CMD13 would not report them again. After a read, the errors may be about
 * blocks after the last requested one. */
static enum err sd_card_stopped(struct sd_card *card)
{
    bool spi = (card->host->abilities & SD_IS_SPI) != 0;

    if (!spi && sd_card_request(card)->write && (card->command.reply[0] & STATUS_UNSTORED) != 0)
        return ERR_IO;
    return sd_card_conclude(card);
}

/* Continue after the current command has succeeded. */
static enum err sd_card_advance(struct sd_card *card)
{
    if (card->state == SD_CARD_MOVE)
        return sd_card_moved(card);
    if (card->state == SD_CARD_STOP)
        return sd_card_stopped(card);
    return sd_card_stored(card);
}

/* Counts time without progress. A caller may compute between polls, so each gap is limited. */
static bool sd_card_is_silent(struct sd_card *card)
{
    uint64_t limit = sd_host_ticks(card->host, SILENT_MICROS), now = card->host->ticks();
    uint64_t gap = now - card->polled_at;

    card->polled_at = now;
    if (card->moved != card->host->moved) {
        card->moved = card->host->moved;
        card->silent_ticks = 0;
        return false;
    }
    card->silent_ticks += min_u64(gap, limit / GAPS);
    return card->silent_ticks > limit;
}

/* Do one step. ERR_BUSY: the step needs more time. */
static enum err sd_card_step(struct sd_card *card)
{
    enum err e;

    switch (card->state) {
    case SD_CARD_IDLE: return card->n_queued > 0 ? sd_card_move(card) : ERR_BUSY;
    case SD_CARD_WAIT:
        if (card->host->ticks() - card->polled_at < card->wait_ticks)
            return ERR_BUSY;
        return sd_card_move(card);
    case SD_CARD_MOVE:
    case SD_CARD_STOP:
    case SD_CARD_STORE:
        e = card->host->ops->poll(card->host);
        if (e == ERR_OK)
            e = sd_card_advance(card);
        if (e == ERR_BUSY && sd_card_is_silent(card)) {
            card->command.fault = SD_FAULT_DATA_TIMEOUT;
            return ERR_TIMEOUT;
        }
        return e;
    case SD_CARD_LOST:
    default: return ERR_BUSY;
    }
}

/* After the end of a transfer, start the next one at once. */
static enum err sd_card_poll(struct block_device *dev)
{
    struct sd_card *card = dev->driver;
    enum err e;

    do {
        e = sd_card_step(card);
        if (e != ERR_OK && e != ERR_BUSY)
            sd_card_fail(card, e);
    } while (e == ERR_OK);
    return ERR_OK;
}

/* Check whether the card is back. A card that does not start takes seconds to fail, which the
 * retries of a read must not multiply. */
static enum err sd_card_find_again(struct sd_card *card)
{
    uint64_t pause = sd_host_ticks(card->host, PAUSE_MICROS);

    if (sd_card_is_out(card))
        return ERR_REMOVED;
    if (card->lost != ERR_REMOVED && card->host->ticks() - card->lost_at < pause)
        return card->lost;
    card->best = SD_RUNG_SDR104;
    card->lost = sd_card_restart(card);
    card->lost_at = card->host->ticks();
    if (card->lost == ERR_OK)
        card->state = SD_CARD_IDLE;
    return card->lost;
}

static enum err sd_card_submit(struct block_device *dev, struct block_request *req)
{
    struct sd_card *card = dev->driver;
    enum err e;

    e = block_request_check(dev, req);
    if (e != ERR_OK)
        return e;
    if (card->n_queued == SD_CARD_DEPTH)
        return ERR_BUSY;
    if (card->state == SD_CARD_LOST)
        e = sd_card_find_again(card);
    if (e != ERR_OK)
        return e;
    req->done = false;
    req->status = ERR_BUSY;
    card->queue[(card->first + card->n_queued) % SD_CARD_DEPTH] = req;
    card->n_queued++;
    return sd_card_poll(dev);
}

static enum err sd_card_reset(struct block_device *dev)
{
    struct sd_card *card = dev->driver;

    card->host->ops->stop(card->host);
    sd_card_lose(card, ERR_TIMEOUT);
    if (sd_card_restart(card) != ERR_OK)
        return ERR_TIMEOUT;
    card->state = SD_CARD_IDLE;
    return ERR_OK;
}

static const char *sd_card_mode(const struct sd_card *card)
{
    static const char *const modes[] = { [SD_TIMING_DEFAULT] = "default speed",
                                         [SD_TIMING_HIGH] = "high speed",
                                         [SD_TIMING_SDR50] = "SDR50",
                                         [SD_TIMING_SDR104] = "SDR104",
                                         [SD_TIMING_DDR50] = "DDR50" };

    if (card->host->abilities & SD_IS_SPI)
        return "SPI";
    return modes[card->timing];
}

void sd_card_open(struct sd_card *card, struct sd_host *host, const char *kind, uintptr_t address,
                  struct block_device *out)
{
    enum err e;

    memset(card, 0, sizeof *card);
    memset(out, 0, sizeof *out);
    card->host = host;
    device_name_set(card->name, kind, address);
    out->name = card->name;
    out->facts = sd_card_facts;
    out->facts_of = card;
    e = sd_card_identify(card);
    if (e != ERR_OK) {
        out->error_message = card->why != NULL ? card->why : err_text(e);
        return;
    }
    out->n_sectors = card->facts.n_sectors;
    out->max_sectors = host->max_blocks < SD_CARD_MAX_SECTORS ? host->max_blocks
                                                              : SD_CARD_MAX_SECTORS;
    out->dma_end = host->dma_end;
    out->queue_depth = SD_CARD_DEPTH;
    out->writable = (host->abilities & SD_CAN_WRITE) && !card->facts.is_locked;
    out->mode = sd_card_mode(card);
    out->bus_bits = card->bits;
    out->bus_hz = host->clock_hz != 0 ? host->clock_hz : card->hz;
    out->submit = sd_card_submit;
    out->poll = sd_card_poll;
    out->reset = sd_card_reset;
    out->driver = card;
}
