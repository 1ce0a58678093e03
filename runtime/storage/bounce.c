#include "runtime/storage/bounce.h"

#include <string.h>

#include "board/min_max.h"

static size_t request_bytes(const struct block_request *req)
{
    return (size_t)req->n_sectors * SECTOR_BYTES;
}

static void conclude(struct block_request *req, enum err status)
{
    req->status = status;
    req->done = true;
}

/* ---- one half -------------------------------------------------------------------------------- */

/* Submit a half's request. If the device has no room, the half keeps the request until the next
 * poll, which submits it before callers' requests. */
static void half_send(struct bounce *b, struct bounce_half *half)
{
    enum err e = b->inner->submit(b->inner, &half->request);

    half->waits = e == ERR_BUSY;
    if (e != ERR_OK && e != ERR_BUSY) {
        conclude(&half->request, e);
    }
}

static void half_begin(struct bounce *b, struct bounce_half *half, struct block_request *asked)
{
    uint8_t *buffer = b->memory + (size_t)(half - b->halves) * BOUNCE_HALF_BYTES;

    half->asked = asked;
    half->request = (struct block_request){ .sector = asked->sector,
                                            .n_sectors = asked->n_sectors,
                                            .buffer = buffer,
                                            .write = asked->write };
    if (asked->write) {
        memcpy(buffer, asked->buffer, request_bytes(asked));
        atomic_fetch_add_explicit(&b->copied, request_bytes(asked), memory_order_relaxed);
    }
    half_send(b, half);
}

/* A failed transfer leaves the caller's memory unchanged. */
static void half_end(struct bounce *b, struct bounce_half *half)
{
    struct block_request *asked = half->asked;

    if (!asked->write && half->request.status == ERR_OK) {
        memcpy(asked->buffer, half->request.buffer, request_bytes(asked));
        atomic_fetch_add_explicit(&b->copied, request_bytes(asked), memory_order_relaxed);
    }
    half->asked = NULL;
    conclude(asked, half->request.status);
}

/* ---- both ------------------------------------------------------------------------------------ */

static struct block_request *take_queued(struct bounce *b)
{
    struct block_request *req = b->queue[b->first];

    b->first = (b->first + 1) % BOUNCE_DEPTH;
    b->n_queued--;
    return req;
}

static void half_fill(struct bounce *b, struct bounce_half *half)
{
    if (half->asked == NULL && b->n_queued > 0) {
        half_begin(b, half, take_queued(b));
    }
}

/* Poll. While this core copies the finished half, the device fills the other. */
static enum err bounce_poll(struct block_device *dev)
{
    struct bounce *b = dev->driver;
    enum err e = b->inner->poll(b->inner);

    for (unsigned i = 0; i < BOUNCE_HALVES; i++) {
        struct bounce_half *half = &b->halves[i];

        if (half->asked != NULL && half->waits) {
            half_send(b, half);
        } else if (half->asked != NULL && half->request.done) {
            half_end(b, half);
        }
        half_fill(b, half);
    }
    return e;
}

/* Submit a request. A buffer that is partly out of reach goes completely through a half. */
static enum err bounce_submit(struct block_device *dev, struct block_request *req)
{
    struct bounce *b = dev->driver;
    enum err e = block_request_check(dev, req);

    if (e != ERR_OK) {
        return e;
    }
    if (block_request_in_reach(b->inner, req)) {
        e = b->inner->submit(b->inner, req);
        if (e == ERR_OK) {
            atomic_fetch_add_explicit(&b->in_reach, request_bytes(req), memory_order_relaxed);
        }
        return e;
    }
    if (b->n_queued == BOUNCE_DEPTH) {
        return ERR_BUSY;
    }
    req->done = false;
    req->status = ERR_BUSY;
    b->queue[(b->first + b->n_queued) % BOUNCE_DEPTH] = req;
    b->n_queued++;
    for (unsigned i = 0; i < BOUNCE_HALVES; i++) {
        half_fill(b, &b->halves[i]);
    }
    return ERR_OK;
}

/* Reset. The device ends its requests in flight; end those that it never got,
 * too. */
static enum err bounce_reset(struct block_device *dev)
{
    struct bounce *b = dev->driver;
    enum err e = b->inner->reset(b->inner);

    for (unsigned i = 0; i < BOUNCE_HALVES; i++) {
        struct bounce_half *half = &b->halves[i];

        if (half->asked == NULL) {
            continue;
        }
        if (half->waits) {
            conclude(&half->request, ERR_TIMEOUT);
        }
        half_end(b, half);
    }
    while (b->n_queued > 0) {
        conclude(take_queued(b), ERR_TIMEOUT);
    }
    return e;
}

uint8_t *bounce_take_memory(struct memory_range *range, uint64_t end)
{
    size_t skipped = -(uintptr_t)range->base % BOUNCE_ALIGN;
    uint8_t *taken;

    if (range->bytes < skipped + BOUNCE_BYTES) {
        return NULL;
    }
    taken = range->base + skipped;
    if ((uintptr_t)taken + BOUNCE_BYTES > end) {
        return NULL;
    }
    range->base = taken + BOUNCE_BYTES;
    range->bytes -= skipped + BOUNCE_BYTES;
    return taken;
}

void bounce_open(struct bounce *b, struct block_device *inner, uint8_t *memory)
{
    memset(b, 0, sizeof *b);
    b->inner = inner;
    b->memory = memory;
    b->device = *inner; /* copy all fields; the functions are replaced below */
    b->device.max_sectors = min_u32(inner->max_sectors, BOUNCE_HALF_SECTORS);
    b->device.queue_depth = min_u32(inner->queue_depth, BOUNCE_DEPTH);
    b->device.dma_end = 0;
    b->device.submit = bounce_submit;
    b->device.poll = bounce_poll;
    b->device.wait = NULL;
    b->device.reset = NULL;
    if (inner->reset != NULL) {
        b->device.reset = bounce_reset;
    }
    b->device.driver = b;
}

struct bounce *bounce_of(struct block_device *device)
{
    if (device->poll != bounce_poll) {
        return NULL;
    }
    return device->driver;
}
