/* Sends requests as commands to an NVMe controller, and takes its answers. Sections are those of
 * the NVM Express Base Specification 1.4. One core submits and polls; there are no interrupts. */
#include "board/drivers/block/nvme.h"

#include <string.h>

#include "board/drivers/block/nvme_registers.h"
#include "board/drivers/soc/device_name.h"
#include "board/min_max.h"

enum {
    HEALTH_PERIOD = 1 << 16, /* polls without an answer between two reads of the status register */
    PARTS = 4,               /* a command's id is its slot times this number, plus its part */
    PART_HEAD = 0,
    PART_MIDDLE = 1,
    PART_TAIL = 2,
    REQUEST_BYTES = NVME_LIST * NVME_PAGE,
    WHOLE_BYTES = 32 << 10,
};

/* A request, cut at the drive's blocks: a part of the first, whole blocks, a part of the last. */
struct cut {
    uint64_t block;      /* the first block */
    uint32_t skip;       /* number of sectors of the first block that lie before the request */
    uint32_t head, tail; /* number of the request's sectors in each edge; 0: none */
    uint32_t middle;     /* whole blocks */
};

static uint32_t sectors_a_block(const struct nvme *n)
{
    return n->facts.block_bytes / SECTOR_BYTES;
}

static struct cut cut_request(const struct nvme *n, const struct block_request *r)
{
    uint32_t per = sectors_a_block(n), skip = (uint32_t)(r->sector % per);
    struct cut c = { .block = r->sector / per, .skip = skip };

    if (skip != 0)
        c.head = min_u32(per - skip, r->n_sectors);
    c.middle = (r->n_sectors - c.head) / per;
    c.tail = (r->n_sectors - c.head) % per;
    return c;
}

static bool has_edges(const struct cut *c)
{
    return c->head != 0 || c->tail != 0;
}

static uint8_t *at_sector(const struct block_request *r, uint32_t sector)
{
    return (uint8_t *)r->buffer + (size_t)sector * SECTOR_BYTES;
}

/* ---- commands ---- */

/* Describe a buffer of at least WHOLE_BYTES as one data block of type 0 (4.4), as Linux's driver
 * does. A drive whose SGLS is 2 requires whole dwords. */
static bool point_at_whole(const struct nvme *n, struct nvme_command *c, uint64_t address,
                           uint32_t bytes)
{
    if (!n->facts.whole || n->by_pages || address % 4 != 0 || bytes < WHOLE_BYTES)
        return false;
    c->flags = FLAG_SGL;
    c->prp1 = address;
    c->prp2 = bytes;
    return true;
}

/* Describe the buffer by pages (4.3): PRP1 is the buffer's start, PRP2 the second page or the
 * address of a list. */
static void point_at(struct nvme *n, uint32_t slot, struct nvme_command *c, const void *data,
                     uint32_t bytes)
{
    uint64_t address = dma_address(&n->setup.window, data);
    uint64_t next = address / NVME_PAGE * NVME_PAGE + NVME_PAGE, end = address + bytes;
    uint64_t *list = n->lists[slot];
    uint32_t pages = 0;

    if (point_at_whole(n, c, address, bytes))
        return;
    c->prp1 = address;
    /* Within one page. */
    if (end <= next)
        return;
    /* Two pages: PRP2 is the second page. */
    if (end - next <= NVME_PAGE) {
        c->prp2 = next;
        return;
    }
    /* More pages: PRP2 is the address of a list of all but the first. */
    for (; next < end; next += NVME_PAGE)
        list[pages++] = next;
    dma_sync(&n->setup.window, list, pages * sizeof *list);
    c->prp2 = dma_address(&n->setup.window, list);
}

static void send(struct nvme *n, uint32_t slot, unsigned part, struct nvme_command *c)
{
    n->slots[slot].pending |= (uint8_t)(1u << part);
    c->id = (uint16_t)(slot * PARTS + part);
    c->namespace_id = NVME_NAMESPACE;
    /* The id comes back in the completion and names the slot and the part. */
    nvme_push(n, &n->io, c);
}

static void transfer(struct nvme *n, uint32_t slot, unsigned part, uint64_t block, uint32_t blocks,
                     const void *data, bool write)
{
    struct nvme_command c = { .opcode = write ? IO_WRITE : IO_READ,
                              .dword10 = (uint32_t)block,
                              .dword11 = (uint32_t)(block >> 32),
                              .dword12 = blocks - 1 }; /* 6.9, 6.15: the number minus one */
    uint32_t bytes = blocks * n->facts.block_bytes;

    /* For a write, the data must leave the caches; for a read, no dirty cache line may overwrite
     * the data later. */
    dma_sync(&n->setup.window, data, bytes);
    point_at(n, slot, &c, data, bytes);
    send(n, slot, part, &c);
}

static void send_edges(struct nvme *n, uint32_t slot, const struct cut *c, bool write)
{
    if (c->head != 0)
        transfer(n, slot, PART_HEAD, c->block, 1, n->edges[slot][0], write);
    if (c->tail != 0)
        transfer(n, slot, PART_TAIL, c->block + (c->head != 0) + c->middle, 1, n->edges[slot][1],
                 write);
}

static void send_data(struct nvme *n, uint32_t slot, const struct cut *c)
{
    const struct block_request *r = n->slots[slot].request;

    n->slots[slot].step = NVME_DATA;
    send_edges(n, slot, c, r->write);
    if (c->middle != 0)
        transfer(n, slot, PART_MIDDLE, c->block + (c->head != 0), c->middle, at_sector(r, c->head),
                 r->write);
}

static void send_flush(struct nvme *n, uint32_t slot)
{
    struct nvme_command c = { .opcode = IO_FLUSH };

    n->slots[slot].step = NVME_FLUSH;
    send(n, slot, PART_HEAD, &c);
}

/* ---- answers ---- */

static void copy_edge(const struct block_request *r, uint32_t at, uint8_t *edge, uint32_t sectors)
{
    if (r->write)
        memcpy(edge, at_sector(r, at), (size_t)sectors * SECTOR_BYTES);
    else
        memcpy(at_sector(r, at), edge, (size_t)sectors * SECTOR_BYTES);
}

/* Copy between the request's buffer and the blocks of the edges, which hold the drive's data. */
static void copy_edges(struct nvme *n, uint32_t slot, const struct cut *c)
{
    const struct block_request *r = n->slots[slot].request;
    uint32_t bytes = n->facts.block_bytes;

    if (c->head != 0) {
        dma_sync(&n->setup.window, n->edges[slot][0], bytes);
        copy_edge(r, 0, n->edges[slot][0] + (size_t)c->skip * SECTOR_BYTES, c->head);
    }
    if (c->tail != 0) {
        dma_sync(&n->setup.window, n->edges[slot][1], bytes);
        copy_edge(r, r->n_sectors - c->tail, n->edges[slot][1], c->tail);
    }
}

static void finish(struct nvme *n, uint32_t slot, enum err status)
{
    struct block_request *r = n->slots[slot].request;
    struct cut c = cut_request(n, r);

    n->slots[slot].request = NULL;
    n->slots[slot].pending = 0;
    n->in_flight--;
    n->writes -= r->write;
    n->edged -= r->write && has_edges(&c);
    r->status = status;
    r->done = true;
}

/* All commands of this step are complete: go to the next step. */
static void advance(struct nvme *n, uint32_t slot)
{
    struct nvme_slot *s = &n->slots[slot];
    struct cut c = cut_request(n, s->request);

    /* The edges have been read: put the caller's sectors into them, then write everything. */
    if (s->status == ERR_OK && s->step == NVME_EDGES) {
        copy_edges(n, slot, &c);
        send_data(n, slot, &c);
        return;
    }
    /* If the drive has a volatile cache, a write is done only after a flush. */
    if (s->status == ERR_OK && s->step == NVME_DATA && s->request->write && n->facts.cached) {
        send_flush(n, slot);
        return;
    }
    /* After a read, copy the sectors of the edges, and let the cores see the whole blocks. */
    if (s->status == ERR_OK && !s->request->write) {
        copy_edges(n, slot, &c);
        dma_sync(&n->setup.window, at_sector(s->request, c.head),
                 (size_t)c.middle * n->facts.block_bytes);
    }
    finish(n, slot, s->status);
}

/* Take one completion. Returns false if the controller violated the protocol. */
static bool take(struct nvme *n, const struct nvme_completion *done)
{
    uint32_t slot = done->id / PARTS, bit = 1u << done->id % PARTS;
    struct nvme_slot *s = &n->slots[slot % NVME_DEPTH];

    /* No command with this id is in flight, so the controller cannot be trusted any more. */
    if (slot >= n->depth || s->request == NULL || !(s->pending & bit) ||
        done->sq_id != NVME_IO_QUEUE)
        return false;
    s->pending &= (uint8_t)~bit;
    if (done->status >> 1 != 0) {
        s->status = ERR_IO;
        n->by_pages = true; /* after any error, repeat the request by pages */
    }
    if (s->pending == 0)
        advance(n, slot);
    return true;
}

/* ---- failures ---- */

static void fail_all(struct nvme *n, enum err status)
{
    for (uint32_t slot = 0; slot < n->depth; slot++)
        if (n->slots[slot].request != NULL)
            finish(n, slot, status);
}

/* Stop all transfers, so that nothing arrives in buffers that are returned. The next request starts
 * the controller again. */
static enum err stop_all(struct nvme *n)
{
    n->dead = nvme_stop(n) != ERR_OK;
    n->stopped = !n->dead;
    fail_all(n, ERR_IO);
    return ERR_IO;
}

/* Start the controller again; nothing is in flight. A drive that was pulled and put back is set up
 * first. */
static enum err restart(struct nvme *n)
{
    if (n->gone && (n->setup.put_back == NULL || !n->setup.put_back(n->setup.slot)))
        return ERR_IO;
    n->dead = nvme_start(n) != ERR_OK;
    return err_unless(!n->dead, ERR_IO);
}

/* Read the status (3.1.6, CFS); the drive is gone if it reads as all ones. */
static enum err check_health(struct nvme *n)
{
    if (n->in_flight == 0 || ++n->idle_polls < HEALTH_PERIOD)
        return ERR_OK;
    /* A failed controller completes nothing; only its status register shows that. */
    n->idle_polls = 0;
    uint32_t status = nvme_read(n, NVME_CSTS);
    if ((status & (CSTS_READY | CSTS_FATAL)) == CSTS_READY)
        return ERR_OK;
    return stop_all(n);
}

/* ---- the block device ---- */

/* Two writes may have parts of the same block. A write with edges reads that block first, so no
 * other write may be in flight with it. */
static bool must_wait(const struct nvme *n, const struct block_request *r, const struct cut *c)
{
    return n->in_flight == n->depth ||
           (r->write && (n->edged != 0 || (has_edges(c) && n->writes != 0)));
}

static void begin(struct nvme *n, struct block_request *r, const struct cut *c)
{
    uint32_t slot = 0;

    while (n->slots[slot].request != NULL)
        slot++;
    n->slots[slot] = (struct nvme_slot){ .request = r };
    r->slot = (uint16_t)slot;
    r->done = false;
    r->status = ERR_BUSY;
    n->writes += r->write;
    n->edged += r->write && has_edges(c);
    n->in_flight++;
    n->most_in_flight = max_u32(n->most_in_flight, n->in_flight);
    if (r->write && has_edges(c))
        send_edges(n, slot, c, false);
    else
        send_data(n, slot, c);
}

static enum err nvme_submit(struct block_device *dev, struct block_request *r)
{
    struct nvme *n = dev->driver;
    enum err e = block_request_check(dev, r);
    struct cut c;

    if (n->dead && !n->gone)
        return ERR_IO;
    if (e != ERR_OK)
        return e;
    if (!block_request_in_reach(dev, r) ||
        !dma_reaches(&n->setup.window, r->buffer, (size_t)r->n_sectors * SECTOR_BYTES))
        return ERR_RANGE;
    if ((n->stopped || n->dead) && restart(n) != ERR_OK)
        return ERR_IO;
    c = cut_request(n, r);
    if (must_wait(n, r, &c))
        return ERR_BUSY;
    begin(n, r, &c);
    return ERR_OK;
}

static enum err nvme_poll(struct block_device *dev)
{
    struct nvme *n = dev->driver;
    struct nvme_completion done;
    bool any = false;

    if (n->dead || n->stopped)
        return err_unless(!n->dead, ERR_IO);
    while (n->in_flight != 0 && nvme_pop(n, &n->io, &done)) {
        any = true;
        if (!take(n, &done))
            return stop_all(n);
    }
    if (!any)
        return check_health(n);
    n->idle_polls = 0;
    nvme_popped(n, &n->io);
    return ERR_OK;
}

static enum err nvme_reset(struct block_device *dev)
{
    struct nvme *n = dev->driver;
    enum err stopped = nvme_stop(n);

    fail_all(n, ERR_TIMEOUT);
    n->dead = stopped != ERR_OK || nvme_start(n) != ERR_OK;
    return err_unless(!n->dead, ERR_TIMEOUT);
}

static void fill(struct nvme *n, struct block_device *out)
{
    uint32_t bytes = REQUEST_BYTES;

    if (n->facts.max_bytes != 0)
        bytes = min_u32(bytes, n->facts.max_bytes);
    out->n_sectors = n->facts.n_blocks * sectors_a_block(n);
    out->block_bytes = n->facts.block_bytes;
    out->max_sectors = bytes / SECTOR_BYTES;
    out->queue_depth = n->depth;
    out->wanted_requests = block_device_wanted(n->depth);
    out->writable = !n->facts.read_only;
    out->dma_end = n->setup.window.end;
    if (out->dma_end == UINT64_MAX)
        out->dma_end = 0;
    out->submit = nvme_submit;
    out->poll = nvme_poll;
    out->reset = nvme_reset;
}

enum err nvme_open(struct nvme *n, const struct nvme_setup *setup, struct block_device *out)
{
    memset(n, 0, sizeof *n);
    memset(out, 0, sizeof *out);
    n->setup = *setup;
    n->admin = (struct nvme_queue){ .commands = n->admin_commands,
                                    .completions = n->admin_completions };
    n->io = (struct nvme_queue){ .commands = n->commands, .completions = n->completions };
    device_name_set(n->name, "NVMe drive at ", setup->mmio);
    if (nvme_read(n, NVME_CSTS) == UINT32_MAX)
        return ERR_NO_DEVICE;
    out->name = n->name;
    out->kind = BLOCK_NVME;
    out->driver = n;
    if (!dma_reaches(&setup->window, n, sizeof *n))
        n->why = "DMA of the NVMe controller does not reach the driver's memory: raise `dmaend`";
    else if (nvme_start(n) == ERR_OK)
        fill(n, out);
    else
        (void)nvme_write(n, NVME_CC, 0); /* requests in flight are dropped */
    out->error_message = n->why;
    return ERR_OK;
}
