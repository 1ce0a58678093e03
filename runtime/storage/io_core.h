/* A core that does nothing but serve a block device, where the device has no DMA and a core moves
 * every byte: then the others compute meanwhile, instead of waiting for the one that moves.
 *
 * This is a block device of its own in front of the driver's, for everybody who reads or writes. What
 * core 0 submits lies in a ring; the serving core takes it from there, submits it to the driver and
 * polls. `done` is written by core 0 alone, inside its own poll and reset. While no core serves, core
 * 0 does the same in these calls. */
#ifndef INGOT_RUNTIME_IO_CORE_H
#define INGOT_RUNTIME_IO_CORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "board/block_device.h"
#include "runtime/base/platform.h"
#include "runtime/base/trace.h"

enum { IO_CORE_DEPTH = 8 };

struct io_core_slot {
    struct block_request request; /* the device's, while it is at work */
    struct block_request *asked;  /* whose it is; core 0 only */
    uint64_t begun;               /* of the trace */
    _Atomic uint32_t state;       /* who may touch the request */
};

struct io_core {
    struct block_device device; /* for everybody else */
    struct block_device *inner; /* the driver's */
    const struct platform_cores *cores;
    struct trace *trace;                      /* or NULL */
    struct io_core_slot slots[IO_CORE_DEPTH]; /* a ring in the order of submits */
    unsigned next;                            /* core 0: the slot of the next request */
    unsigned collected;                       /* core 0: requests that have come back */
    unsigned first;                           /* the serving core: the next to submit */
    unsigned core;                            /* that serves; 0: none */
    _Atomic uint32_t finished;                /* counts requests that are done */
    _Atomic uint32_t order;                   /* from core 0 to it */
    _Atomic uint32_t requests;                /* counts requests and orders */
    _Atomic uint32_t asleep;                  /* it may be asleep until there are requests */
    enum err reset_status;
};

/* Stand in front of a driver's device, which nobody else uses from now on: c->device has its name,
 * size and limits. inner, cores and trace (or NULL) outlive c, which must not move. Core 0. */
void io_core_open(struct io_core *c, struct block_device *inner, const struct platform_cores *cores,
                  struct trace *trace);

/* The io_core whose device this is; NULL: it is a driver's. */
struct io_core *io_core_of(struct block_device *device);

/* No request is on its way. Core 0. */
bool io_core_is_idle(const struct io_core *c);

/* From now on core number `core` serves: let it run io_core_serve. It returns soon after
 * io_core_stop, until when core 0 keeps away from the driver. Requests stay in flight across
 * both. Core 0 calls start and stop. */
void io_core_start(struct io_core *c, unsigned core);
void io_core_serve(void *io_core);
void io_core_stop(void *io_core);

/* What somebody who polls has seen of the device. */
struct io_core_watch {
    uint32_t finished, looks;
};

/* A core is at work for the device, and no request is done since this was false last: a poll can be
 * spared, and with it the looks at the clock. After `most` times in a row it is false all the same,
 * so that the poll sees to timeouts and the watchdog. */
bool io_core_is_quiet(struct block_device *device, struct io_core_watch *watch, uint32_t most);

#endif
