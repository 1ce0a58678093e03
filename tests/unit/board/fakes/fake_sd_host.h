/* A host that does what it is told, with a card in it, under the block device: sd_card.c and
 * sd_bus.c see a bus like any other. */
#ifndef INGOT_TESTS_UNIT_FAKE_SD_HOST_H
#define INGOT_TESTS_UNIT_FAKE_SD_HOST_H

#include "board/drivers/sd/sd_card.h"
#include "tests/unit/board/fakes/fake_sd.h"
#include "tests/unit/tap.h"

enum { BUFFER_BYTES = 64 * 512 };

static struct fake_sd fake;
static struct sd_card card;
static struct block_device device;
static _Alignas(64) uint8_t buffer[BUFFER_BYTES];

/* ---- the host: a command ends at the second poll ---- */

static struct {
    struct sd_host host;
    struct sd_command *command;
    unsigned polls;
    enum sd_fault fault; /* clocks of the command in progress */
    bool present;
    bool dead; /* never ends anything */
    unsigned n_stops, n_resets, n_tunes;
    uint32_t hz;
    unsigned bits;
    enum sd_timing timing;
    unsigned untunable, noisy; /* bit n: timing n finds no sampling point; its data has errors */
    uint64_t now;
} h;

static inline uint64_t fake_ticks(void)
{
    return h.now += 10; /* of a megahertz */
}

static inline enum err host_start(struct sd_host *host, struct sd_command *c)
{
    bool app = fake.is_app, answers;

    (void)host;
    if (!h.present) {
        c->fault = SD_FAULT_REMOVED;
        return ERR_IO;
    }
    h.command = c;
    h.polls = 0;
    h.fault = SD_FAULT_NONE;
    answers = fake_sd_command(&fake, c->index, c->argument, c->reply);
    if (!answers && c->response != SD_RESPONSE_NONE)
        h.fault = SD_FAULT_COMMAND_TIMEOUT;
    else if (c->data != NULL)
        h.fault = fake_sd_data(&fake, c->index, c->argument, app, c->data,
                               c->block_bytes * c->n_blocks);
    if (c->data != NULL && h.noisy >> h.timing & 1)
        h.fault = SD_FAULT_DATA;
    if (c->closing == SD_CLOSE_STOP && h.fault == SD_FAULT_NONE) {
        fake.state = FAKE_TRANSFER;
        fake.latched =
            0; /* the card's answer to the controller's own CMD12 reports it and clears it, unseen */
    }
    return ERR_OK;
}

static inline enum err host_poll(struct sd_host *host)
{
    (void)host;
    if (h.dead || h.polls++ == 0)
        return ERR_BUSY;
    h.command->fault = h.fault;
    return h.fault == SD_FAULT_NONE ? ERR_OK : h.fault == SD_FAULT_DATA ? ERR_IO : ERR_TIMEOUT;
}

static inline void host_stop(struct sd_host *host)
{
    (void)host;
    h.n_stops++;
    h.command = NULL;
}

static inline enum err host_reset(struct sd_host *host)
{
    (void)host;
    h.n_resets++;
    fake_sd_power_off(&fake);
    fake.lines_1v8 = false;
    h.bits = 1;
    h.hz = 400000;
    return ERR_OK;
}

static inline enum err host_set_bus(struct sd_host *host, uint32_t hz, unsigned bits,
                                    enum sd_timing timing)
{
    (void)host;
    h.hz = hz;
    h.bits = bits;
    h.timing = timing;
    return ERR_OK;
}

static inline enum err host_set_1v8(struct sd_host *host)
{
    (void)host;
    fake.lines_1v8 = true;
    return ERR_OK;
}

static inline enum err host_tune(struct sd_host *host, unsigned index)
{
    host->wants_tuning = false;
    h.n_tunes++;
    return index == 19 && !(h.untunable >> h.timing & 1) ? ERR_OK : ERR_IO;
}

static inline bool host_is_present(struct sd_host *host)
{
    (void)host;
    return h.present;
}

static const struct sd_host_ops ops = { host_start, host_poll,       host_stop,
                                        host_reset, host_set_bus,    host_set_1v8,
                                        host_tune,  host_is_present, sd_bus_identify };

static inline void set_up(uint32_t abilities)
{
    memset(&h, 0, sizeof h);
    h.host.ops = &ops;
    h.host.ticks = fake_ticks;
    h.host.ticks_hz = 1000000;
    h.host.abilities = abilities;
    h.host.max_hz = 208000000;
    h.host.max_blocks = 128;
    h.present = true;
    fake_sd_init(&fake);
}

static inline void open_card(void)
{
    sd_card_open(&card, &h.host, "SD card at ", 0x1234, &device);
}

enum { PLAIN = SD_CAN_4_BITS | SD_CAN_HIGH_SPEED | SD_STOPS | SD_CAN_WRITE };

/* ---- requests ---- */

static inline enum err transfer(struct block_request *r)
{
    enum err e = device.submit(&device, r);

    for (unsigned i = 0; e == ERR_OK && !r->done && i < 1000000; i++)
        (void)device.poll(&device);
    return e != ERR_OK ? e : r->done ? r->status : ERR_BUSY;
}

static inline enum err read_at(uint64_t sector, uint32_t n)
{
    struct block_request r = { .sector = sector, .n_sectors = n, .buffer = buffer };

    memset(buffer, 0xee, sizeof buffer);
    return transfer(&r);
}

static inline bool holds(uint64_t sector, uint32_t n)
{
    for (uint32_t i = 0; i < n * 512; i++)
        if (buffer[i] != fake_sd_byte(sector + i / 512, i % 512))
            return false;
    return true;
}

#endif
