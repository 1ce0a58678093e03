/* Sections are those of the VIRTIO 1.2 specification (OASIS, csd01). One core submits and
 * polls; the used ring is polled, interrupts stay off. */
#include <stddef.h>
#include <string.h>

#include "board/drivers/block/virtio_blk.h"
#include "board/drivers/block/virtio_registers.h"
#include "board/drivers/dma/dma.h"
#include "board/drivers/soc/device_name.h"
#include "board/min_max.h"

enum {
    WANTED_BYTES = 128 * 1024, /* size of a request, if the device limits its segments */
    HEALTH_PERIOD = 1 << 16,   /* polls without an answer between two reads of the status
                                  register */
};

static struct virtq queue_of(struct virtio_blk *v)
{
    return (struct virtq){
        .desc = v->desc, .avail = &v->avail, .used = &v->used, .least = 4, .most = VIRTIO_BLK_QUEUE
    };
}

/* Read a 64-bit field, which is consistent if the generation did not change meanwhile (section
 * 4.2.2.1). */
static uint64_t virtio_read_capacity(const struct virtio_blk *v)
{
    uint64_t capacity = 0;

    for (int attempt = 0; attempt < 8; attempt++) {
        uint32_t before = virtio_read(v->mmio, VIRTIO_CONFIG_GENERATION);
        capacity = virtio_read(v->mmio, VIRTIO_CAPACITY);
        capacity |= (uint64_t)virtio_read(v->mmio, VIRTIO_CAPACITY + 4) << 32;
        if (virtio_read(v->mmio, VIRTIO_CONFIG_GENERATION) == before)
            break;
    }
    return capacity;
}

/* Negotiate features; *limits says which of SIZE_MAX and SEG_MAX apply. Without VIRTIO_BLK_F_FLUSH
 * the device writes through (5.2.6.2): a finished write is durable. */
static enum err virtio_blk_negotiate(struct virtio_blk *v, uint32_t *limits)
{
    enum virtio_refusal refusal =
        virtio_negotiate(v->mmio, FEATURE_SIZE_MAX | FEATURE_SEG_MAX | FEATURE_RO, limits);

    if (refusal == VIRTIO_TOO_OLD) {
        v->why = "the virtio-blk device does not offer VIRTIO_F_VERSION_1";
        return ERR_UNSUPPORTED;
    }
    v->read_only = (*limits & FEATURE_RO) != 0;
    if (refusal == VIRTIO_AGREED)
        return ERR_OK;
    v->why = "the virtio-blk device refused the features it offered";
    return ERR_IO;
}

/* Divide the descriptors into equal slots, each for a header, data segments and a status. A device
 * without limits needs one segment per request, so every slot has enough. */
static void virtio_blk_plan(struct virtio_blk *v, uint32_t limits)
{
    const uint32_t request_bytes = VIRTIO_BLK_MAX_SECTORS * SECTOR_BYTES;
    uint32_t size_max = limits & FEATURE_SIZE_MAX ? virtio_read(v->mmio, VIRTIO_SIZE_MAX) : 0;
    uint32_t seg_max = limits & FEATURE_SEG_MAX ? virtio_read(v->mmio, VIRTIO_SEG_MAX) : 1;
    uint32_t segments;

    v->segment_bytes = request_bytes;
    if (size_max >= SECTOR_BYTES && size_max < request_bytes)
        v->segment_bytes = size_max / SECTOR_BYTES * SECTOR_BYTES;
    segments = v->segment_bytes == request_bytes
                   ? 1
                   : (WANTED_BYTES + v->segment_bytes - 1) / v->segment_bytes;
    if (segments > seg_max && seg_max > 0)
        segments = seg_max;
    if (segments > v->queue_size / 4 - 2 && v->queue_size >= 16)
        segments = v->queue_size / 4 - 2; /* leaves room for four requests in flight */
    if (v->queue_size < 16)
        segments = 1;
    v->slot_descs = segments + 2;
    v->depth = v->queue_size / v->slot_descs;
    if (v->depth > VIRTIO_BLK_DEPTH)
        v->depth = VIRTIO_BLK_DEPTH;
}

static enum err virtio_blk_start_queue(struct virtio_blk *v)
{
    const struct virtq q = queue_of(v);

    v->used_seen = 0;
    v->queue_size = virtq_start(v->mmio, &q);
    if (v->queue_size == 0) {
        v->why = "the virtio-blk device has no usable virtqueue";
        return ERR_IO;
    }
    return ERR_OK;
}

/* Start the device, from reset to DRIVER_OK (section 3.1.1). */
static enum err virtio_blk_start(struct virtio_blk *v)
{
    uint32_t limits = 0;
    enum err e;

    if (!virtio_begin(v->mmio)) {
        v->why = "the virtio-blk device does not reset";
        return ERR_TIMEOUT;
    }
    /* Features, then queues, then DRIVER_OK: the device may refuse any other order. */
    e = virtio_blk_negotiate(v, &limits);
    if (e == ERR_OK)
        e = virtio_blk_start_queue(v);
    if (e != ERR_OK) {
        virtio_write(v->mmio, VIRTIO_STATUS, STATUS_FAILED);
        return e;
    }
    virtio_blk_plan(v, limits);
    virtio_write(v->mmio, VIRTIO_STATUS,
                 STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    return ERR_OK;
}

static void virtio_blk_fail_all(struct virtio_blk *v, enum err status)
{
    for (uint32_t slot = 0; slot < v->depth; slot++) {
        if (v->requests[slot] == NULL)
            continue;
        v->requests[slot]->status = status;
        v->requests[slot]->done = true;
        v->requests[slot] = NULL;
    }
    v->in_flight = 0;
}

static enum err virtio_blk_die(struct virtio_blk *v)
{
    v->dead = true;
    (void)virtio_stop(v->mmio); /* after this no transfer writes to a returned buffer */
    virtio_blk_fail_all(v, ERR_IO);
    return ERR_IO;
}

static enum err virtio_blk_reset(struct block_device *dev)
{
    struct virtio_blk *v = dev->driver;
    bool stopped = virtio_stop(v->mmio);

    /* Return buffers only after the stop, because until then the device may write to them. */
    virtio_blk_fail_all(v, ERR_TIMEOUT);
    v->dead = !stopped || virtio_blk_start(v) != ERR_OK;
    return err_unless(!v->dead, ERR_TIMEOUT);
}

static void virtio_set_desc(struct virtio_blk *v, uint32_t index, const void *address,
                            uint32_t bytes, unsigned flags)
{
    v->desc[index].address = (uintptr_t)address;
    v->desc[index].bytes = bytes;
    v->desc[index].flags = (uint16_t)flags;
    v->desc[index].next = (uint16_t)(index + 1);
}

/* Make the chain of header, data and status byte (section 5.2.6). Returns its head. */
static uint32_t virtio_blk_chain(struct virtio_blk *v, uint32_t slot, struct block_request *req)
{
    uint32_t head = slot * v->slot_descs, at = head;
    uint32_t left = req->n_sectors * SECTOR_BYTES;
    uint8_t *data = req->buffer;

    v->headers[slot].type = req->write ? REQUEST_OUT : REQUEST_IN;
    v->headers[slot].reserved = 0;
    v->headers[slot].sector = req->sector;
    v->status[slot] = 0xff; /* a value that 5.2.6 does not define; the device overwrites
                               it */
    virtio_set_desc(v, at++, &v->headers[slot], sizeof v->headers[slot], DESC_NEXT);
    while (left > 0) {
        uint32_t bytes = min_u32(left, v->segment_bytes);
        virtio_set_desc(v, at++, data, bytes,
                        (uint16_t)(DESC_NEXT | bits_if(!req->write, DESC_WRITE)));
        data += bytes;
        left -= bytes;
    }
    virtio_set_desc(v, at, &v->status[slot], 1, DESC_WRITE);
    return head;
}

static enum err virtio_blk_submit(struct block_device *dev, struct block_request *req)
{
    struct virtio_blk *v = dev->driver;
    const struct virtq q = queue_of(v);
    uint32_t slot = 0;

    if (v->dead)
        return ERR_IO;
    if (block_request_check(dev, req) != ERR_OK)
        return block_request_check(dev, req);
    if (!block_request_in_reach(dev, req))
        return ERR_RANGE;
    if (v->in_flight == v->depth)
        return ERR_BUSY;
    while (v->requests[slot] != NULL)
        slot++;
    req->slot = (uint16_t)slot;
    req->done = false;
    req->status = ERR_BUSY;
    v->requests[slot] = req;
    v->in_flight++;
    if (v->in_flight > v->most_in_flight)
        v->most_in_flight = v->in_flight;
    virtq_offer(v->mmio, &q, v->queue_size, virtio_blk_chain(v, slot, req));
    return ERR_OK;
}

/* Collect one element of the used ring. Returns false if the device violated the protocol. */
static bool virtio_blk_collect(struct virtio_blk *v)
{
    uint32_t id = v->used.ring[v->used_seen & (v->queue_size - 1)].id;
    uint32_t slot = id / v->slot_descs;
    struct block_request *req;

    /* The id comes from the device and is used as an index, so check it. */
    if (id % v->slot_descs != 0 || slot >= v->depth || v->requests[slot] == NULL)
        return false;
    req = v->requests[slot];
    v->requests[slot] = NULL;
    v->in_flight--;
    v->used_seen++;
    req->status = err_unless(v->status[slot] == REQUEST_OK, ERR_IO);
    req->done = true;
    return true;
}

/* A device that stops answering says so in its status (2.1.2), before the caller's time-out. Under
 * a hypervisor the register is slow to read, so it is read only once per period. */
static enum err virtio_blk_check_health(struct virtio_blk *v)
{
    if (v->in_flight == 0 || ++v->idle_polls < HEALTH_PERIOD)
        return ERR_OK;
    v->idle_polls = 0;
    uint32_t status = virtio_read(v->mmio, VIRTIO_STATUS);
    if ((status & STATUS_DRIVER_OK) && !(status & (STATUS_NEEDS_RESET | STATUS_FAILED)))
        return ERR_OK;
    return virtio_blk_die(v);
}

static enum err virtio_blk_poll(struct block_device *dev)
{
    struct virtio_blk *v = dev->driver;
    uint16_t index;

    if (v->dead)
        return ERR_IO;
    index = *(volatile uint16_t *)&v->used.index;
    if (index == v->used_seen)
        return virtio_blk_check_health(v);
    dma_barrier(); /* read the index before entries, status bytes and data (2.7.14) */
    v->idle_polls = 0;
    while (v->used_seen != index) {
        if (!virtio_blk_collect(v))
            return virtio_blk_die(v);
    }
    return ERR_OK;
}

static void virtio_blk_fill(struct virtio_blk *v, struct block_device *out)
{
    uint32_t sectors = (v->slot_descs - 2) * (v->segment_bytes / SECTOR_BYTES);

    memset(out, 0, sizeof *out);
    out->name = v->name;
    out->n_sectors = virtio_read_capacity(v);
    out->max_sectors = sectors < VIRTIO_BLK_MAX_SECTORS ? sectors : VIRTIO_BLK_MAX_SECTORS;
    out->queue_depth = v->depth;
    out->wanted_requests = block_device_wanted(v->depth);
    out->writable = !v->read_only;
    out->submit = virtio_blk_submit;
    out->poll = virtio_blk_poll;
    out->reset = virtio_blk_reset;
    out->driver = v;
}

bool virtio_blk_is_there(uintptr_t mmio)
{
    return virtio_is_there(mmio, DEVICE_BLOCK);
}

enum err virtio_blk_probe(struct virtio_blk *state, uintptr_t mmio, struct block_device *out)
{
    enum err e;

    memset(state, 0, sizeof *state);
    state->mmio = mmio;
    if (!virtio_blk_is_there(mmio))
        return ERR_NO_DEVICE;
    device_name_set(state->name, "virtio-blk at ", mmio);
    if (virtio_read(state->mmio, VIRTIO_VERSION) != VERSION_MODERN) {
        state->why = "the virtio-blk device is a legacy one: "
                     "start QEMU with -global virtio-mmio.force-legacy=false";
        return ERR_UNSUPPORTED;
    }
    e = virtio_blk_start(state);
    if (e == ERR_OK)
        virtio_blk_fill(state, out);
    return e;
}
