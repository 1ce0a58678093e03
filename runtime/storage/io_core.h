/* A core that only serves a block device without DMA, whose bytes a core must move. The other cores
 * compute meanwhile instead of waiting.
 *
 * All reads and writes use this block device in place of the driver's device. Core 0 puts requests
 * into a ring; the serving core takes them out, submits them to the driver and polls. Only core 0
 * writes `done`, inside its own poll and reset. While no core serves, core 0's poll and reset do
 * the serving core's work. */
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
    struct block_request request; /* the request in flight on the driver's device */
    struct block_request *asked;  /* the caller's request; only core 0 uses it */
    uint64_t begun;               /* when the request began, for the trace */
    _Atomic uint32_t state;       /* which core may touch the request */
};

struct io_core {
    struct block_device device; /* for all users */
    struct block_device *inner; /* the device of the driver */
    const struct platform_cores *cores;
    struct trace *trace;                      /* or NULL */
    struct io_core_slot slots[IO_CORE_DEPTH]; /* a ring in the order of submission */
    unsigned next;                            /* core 0's slot for the next request */
    unsigned collected;                       /* number of requests that core 0 returned */
    unsigned first;                           /* the serving core's next slot to submit */
    unsigned core;                            /* number of the serving core, or 0 */
    _Atomic uint32_t finished;                /* counts finished requests */
    _Atomic uint32_t order;                   /* order from core 0 to the serving core */
    _Atomic uint32_t requests;                /* counts requests and orders */
    _Atomic uint32_t asleep;                  /* the serving core may be asleep until requests
                                               * come */
    _Atomic uint32_t looks;                   /* number of the serving core's polls */
    enum err reset_status;
};

/* Take the place of a driver's device. From now on other code uses c->device, which has the same
 * name, size and limits. inner, cores and trace (or NULL) outlive c, which must not move. Core 0
 * only. */
void io_core_open(struct io_core *c, struct block_device *inner, const struct platform_cores *cores,
                  struct trace *trace);

/* Return the io_core that owns this device, or NULL. */
struct io_core *io_core_of(struct block_device *device);

/* Return true if no request is in flight. Core 0 only. */
bool io_core_is_idle(const struct io_core *c);

/* Let core number `core` serve from now on. The core must run io_core_serve, which returns soon
 * after io_core_stop. Between io_core_start and io_core_stop, core 0 does not touch the driver.
 * Requests may be in flight during both calls. Core 0 calls start and stop. */
void io_core_start(struct io_core *c, unsigned core);
void io_core_serve(void *io_core);
void io_core_stop(void *io_core);

/* The device's progress that a poller has seen. */
struct io_core_watch {
    uint32_t finished, looks;
};

/* Return true if the caller can skip a poll and its reads of the clock, because a core serves the
 * device and has finished no request since this function last returned false. Returns false anyway
 * after `most` times in a row, so that polls handle timeouts and the watchdog. */
bool io_core_is_quiet(struct block_device *device, struct io_core_watch *watch, uint32_t most);

#endif
