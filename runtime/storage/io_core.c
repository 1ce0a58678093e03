#include "runtime/storage/io_core.h"

#include <string.h>

/* States of a slot. Core 0 fills free slots and frees finished slots; the other states belong
 * to the serving core. */
enum { FREE, ASKED, AT_WORK, DONE };

enum { NO_ORDER, STOP, RESET };

static uint32_t state_of(const struct io_core_slot *s)
{
    return atomic_load_explicit(&s->state, memory_order_acquire);
}

static void set_state(struct io_core_slot *s, uint32_t state)
{
    atomic_store_explicit(&s->state, state, memory_order_release);
}

/* ---- the serving core, or core 0 if no core serves ------------------------------------------- */

static struct io_core_slot *first_asked(struct io_core *c)
{
    struct io_core_slot *s = &c->slots[c->first % IO_CORE_DEPTH];

    return state_of(s) == ASKED ? s : NULL;
}

static void submit_asked(struct io_core *c)
{
    struct io_core_slot *s;

    while ((s = first_asked(c)) != NULL) {
        uint64_t begun = trace_begin(c->trace);
        enum err e = c->inner->submit(c->inner, &s->request);

        if (e == ERR_BUSY) {
            return; /* the device's queue is full, so try again after the next poll */
        }
        /* A refused request also has a result. */
        if (e != ERR_OK) {
            s->request.status = e;
            s->request.done = true;
        }
        s->begun = begun;
        set_state(s, AT_WORK);
        c->first++;
    }
}

/* Hand finished requests back to core 0. Return true if other requests are in flight. */
static bool finish(struct io_core *c)
{
    bool busy = false;

    for (unsigned i = 0; i < IO_CORE_DEPTH; i++) {
        struct io_core_slot *s = &c->slots[i];

        /* The release in set_state makes the bytes visible to core 0. */
        if (state_of(s) == AT_WORK && s->request.done) {
            trace_end(c->trace, TRACE_MOVE, (uint32_t)s->request.sector, c->core, s->begun);
            set_state(s, DONE);
            atomic_fetch_add(&c->finished, 1);
        }
        busy = busy || state_of(s) == AT_WORK;
    }
    return busy;
}

/* Do a step of work. Return false if there is no more work. The counter of polls is relaxed,
 * because no other data depend on its order and only a timeout reads it. */
static bool step(struct io_core *c)
{
    bool busy;

    submit_asked(c);
    (void)c->inner->poll(c->inner); /* a dead device has marked its requests done */
    busy = finish(c);
    atomic_fetch_add_explicit(&c->looks, 1, memory_order_relaxed);
    return busy || first_asked(c) != NULL;
}

/* Reset the inner device. Requests that were never submitted end like those in flight. */
static void reset_inner(struct io_core *c)
{
    struct io_core_slot *s;

    while ((s = first_asked(c)) != NULL) {
        s->request.status = ERR_TIMEOUT;
        set_state(s, DONE);
        atomic_fetch_add(&c->finished, 1);
        c->first++;
    }
    c->reset_status = c->inner->reset(c->inner);
    (void)finish(c);
}

/* As in workers.c, this core sets `asleep` before its last look at the requests, and core 0 counts
 * a request before it reads `asleep`. So one of the two sees the other's change. */
static void sleep_until_asked(struct io_core *c, uint32_t heard)
{
    atomic_store(&c->asleep, 1);
    if (atomic_load(&c->requests) == heard) {
        c->cores->wait(c->cores->context, &c->requests, heard);
    }
    atomic_store(&c->asleep, 0);
}

void io_core_serve(void *io_core)
{
    struct io_core *c = io_core;
    uint32_t order = NO_ORDER;

    while (order != STOP) {
        /* Read the count before the work, so that requests made meanwhile are noticed. */
        uint32_t heard = atomic_load(&c->requests);
        bool busy = step(c);

        order = atomic_load(&c->order);
        if (order == RESET) {
            reset_inner(c);
        }
        /* Acknowledge the order, because core 0 waits for this. */
        if (order != NO_ORDER) {
            atomic_store(&c->order, NO_ORDER);
        } else if (!busy) {
            sleep_until_asked(c, heard);
        } else {
            platform_yield(c->cores);
        }
    }
}

/* ---- core 0 ---------------------------------------------------------------------------------- */

static void ring(struct io_core *c)
{
    atomic_fetch_add(&c->requests, 1);
    if (atomic_load(&c->asleep) != 0) {
        c->cores->wake(c->cores->context, &c->requests);
    }
}

static void collect(struct io_core *c)
{
    for (unsigned i = 0; i < IO_CORE_DEPTH; i++) {
        struct io_core_slot *s = &c->slots[i];

        if (state_of(s) == DONE) {
            s->asked->status = s->request.status;
            s->asked->done = true;
            set_state(s, FREE);
            c->collected++;
        }
    }
}

static enum err io_core_poll(struct block_device *dev)
{
    struct io_core *c = dev->driver;

    /* If no core serves, core 0 does the work itself. */
    if (c->core == 0) {
        (void)step(c);
    }
    collect(c);
    return ERR_OK;
}

struct io_core *io_core_of(struct block_device *device)
{
    if (device->poll != io_core_poll) {
        return NULL;
    }
    return device->driver;
}

static uint32_t io_core_looks(const struct block_device *dev)
{
    const struct io_core *c = dev->driver;

    return atomic_load_explicit(&c->looks, memory_order_relaxed);
}

bool io_core_is_quiet(struct block_device *device, struct io_core_watch *watch, uint32_t most)
{
    const struct io_core *c = io_core_of(device);
    uint32_t finished;

    /* If no other core serves the device, or no request is in flight, the caller must poll. */
    if (c == NULL || c->core == 0 || c->next == c->collected) {
        return false;
    }
    finished = atomic_load(&c->finished);
    if (finished == watch->finished && watch->looks < most) {
        watch->looks++;
        return true;
    }
    watch->finished = finished;
    watch->looks = 0;
    return false;
}

static enum err io_core_submit(struct block_device *dev, struct block_request *req)
{
    struct io_core *c = dev->driver;
    struct io_core_slot *s = &c->slots[c->next % IO_CORE_DEPTH];
    enum err e = block_request_check(dev, req);

    if (e != ERR_OK) {
        return e;
    }
    if (state_of(s) != FREE) {
        return ERR_BUSY;
    }
    req->done = false;
    s->request = *req;
    s->asked = req;
    /* From now on the slot belongs to the serving core. */
    set_state(s, ASKED);
    c->next++;
    if (c->core == 0) {
        return io_core_poll(dev);
    }
    ring(c);
    return ERR_OK;
}

static void give_order(struct io_core *c, uint32_t order)
{
    atomic_store(&c->order, order);
    ring(c);
    while (atomic_load(&c->order) == order) {
        platform_yield(c->cores);
    }
}

static enum err io_core_reset(struct block_device *dev)
{
    struct io_core *c = dev->driver;

    if (c->core == 0) {
        reset_inner(c);
    } else {
        give_order(c, RESET);
    }
    collect(c);
    return c->reset_status;
}

bool io_core_is_idle(const struct io_core *c)
{
    for (unsigned i = 0; i < IO_CORE_DEPTH; i++) {
        if (state_of(&c->slots[i]) != FREE) {
            return false;
        }
    }
    return true;
}

void io_core_open(struct io_core *c, struct block_device *inner, const struct platform_cores *cores,
                  struct trace *trace)
{
    memset(c, 0, sizeof *c);
    c->inner = inner;
    c->cores = cores;
    c->trace = trace;
    c->device = *inner; /* copy all fields; the functions are replaced below */
    c->device.submit = io_core_submit;
    c->device.poll = io_core_poll;
    c->device.looks = io_core_looks;
    c->device.wanted_requests = block_device_wanted(IO_CORE_DEPTH);
    /* The serving core waits for the count of requests, not for the device. */
    c->device.wait = NULL;
    c->device.reset = NULL;
    if (inner->reset != NULL) {
        c->device.reset = io_core_reset;
    }
    c->device.driver = c;
}

void io_core_start(struct io_core *c, unsigned core)
{
    c->core = core;
}

void io_core_stop(void *io_core)
{
    struct io_core *c = io_core;

    give_order(c, STOP);
    c->core = 0;
}
