/* A core that does nothing but serve a block device, where the device has no DMA and a core moves
 * every byte: then the others compute meanwhile, instead of waiting for the one that moves.
 *
 * The struct takes the device's place, so that nobody else knows: what core 0 submits lies in a
 * ring, from where the serving core takes, submits and polls it. `done` is written by core 0 alone,
 * inside its own poll and reset. While no core serves, core 0 does the same in these calls. */
#ifndef INGOT_RUNTIME_IO_CORE_H
#define INGOT_RUNTIME_IO_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"

enum { IO_CORE_DEPTH = 8 };

struct io_core_slot {
    struct block_request request; /* the device's, while it is at work */
    struct block_request *asked;  /* whose it is; core 0 only */
    uint64_t begun;               /* of the trace */
    _Atomic uint32_t state;       /* who may touch the request */
};

struct io_core {
    struct block_device *device;              /* in whose place this is; NULL: of none */
    struct block_device inner;                /* as it is itself */
    struct io_core_slot slots[IO_CORE_DEPTH]; /* a ring in the order of submits */
    unsigned next;                            /* core 0: the slot of the next request */
    unsigned collected;                       /* core 0: requests that have come back */
    unsigned first;                           /* the serving core: the next to submit */
    unsigned core;                            /* that serves; 0: none */
    _Atomic uint32_t finished;                /* counts requests that are done */
    _Atomic uint32_t order;                   /* from core 0 to it */
    _Atomic uint32_t requests;                /* counts requests and orders */
    _Atomic uint32_t asleep;                  /* it may be in board.wait for the requests */
    enum err reset_status;
};

/* Take the place of a device, and give it back. False: requests are in flight on the device that
 * was there before, which it keeps. c zeroed at first; it must not move. Core 0, nobody serves. */
bool io_core_attach(struct io_core *c, struct block_device *device);
bool io_core_detach(struct io_core *c);

/* From now on core number `core` serves: let it run io_core_serve. It returns soon after
 * io_core_stop, until when core 0 keeps away from the device. Requests stay in flight across
 * both. */
void io_core_start(struct io_core *c, unsigned core);
void io_core_serve(void *io_core);
void io_core_stop(struct io_core *c);

/* What somebody who polls has seen of the device. */
struct io_core_watch {
    uint32_t finished, looks;
};

/* A core is at work for the device, and no request is done since this was false last: a poll can be
 * spared, and with it the looks at the clock. After `most` times in a row it is false all the same,
 * so that the poll sees to timeouts and the watchdog. */
bool io_core_is_quiet(const struct block_device *device, struct io_core_watch *watch,
                      uint32_t most);

#endif
