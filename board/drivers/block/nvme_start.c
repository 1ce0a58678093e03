/* Starts a controller, from reset to queues for transfers, in the order of section 7.6.1 of the NVM
 * Express Base Specification 1.4. Section numbers are those of that document. */
#include <stddef.h>
#include <string.h>

#include "board/drivers/block/nvme_registers.h"
#include "board/left_out.h"
#include "board/min_max.h"

enum {
    CAP_UNIT_MS = 500, /* unit of CAP.TO */
    ADMIN_LIMIT_MS = 5000,
    COMMANDS_A_SLOT = 3,
};

struct deadline {
    uint64_t start, ticks;
};

static struct deadline deadline_in(const struct nvme *n, uint32_t ms)
{
    return (struct deadline){ n->setup.ticks(), n->setup.ticks_hz / 1000 * ms };
}

static bool is_over(const struct nvme *n, const struct deadline *d)
{
    return n->setup.ticks() - d->start > d->ticks;
}

static enum err fail(struct nvme *n, enum err e, const char *why)
{
    n->why = why;
    return e;
}

/* Wait until RDY follows EN (3.1.5, 3.1.6). A controller that is gone reads as all ones. */
static enum err wait_ready(struct nvme *n, uint32_t ready)
{
    struct deadline d = deadline_in(n, n->limit_ms);

    for (;;) {
        bool over = is_over(n, &d);
        uint32_t status = nvme_read(n, NVME_CSTS);

        n->gone = status == UINT32_MAX;
        if (n->gone)
            return fail(n, ERR_IO, "the NVMe controller is gone: put it back and restart");
        if ((status & CSTS_READY) == ready)
            return ERR_OK;
        if (ready != 0 && (status & CSTS_FATAL))
            return fail(n, ERR_IO,
                        "the NVMe controller reports a fatal error: switch the power off and on");
        if (over)
            return fail(n, ERR_TIMEOUT,
                        "the NVMe controller does not become ready: switch the power off and on");
    }
}

enum err nvme_stop(struct nvme *n)
{
    enum err e;

    dma_barrier();
    nvme_write(n, NVME_CC, nvme_read(n, NVME_CC) & ~(uint32_t)CC_ENABLE);
    e = wait_ready(n, 0);
    dma_barrier(); /* from here on the controller writes nothing to memory */
    return e;
}

static void set_queue(struct nvme_queue *q, unsigned id, unsigned entries)
{
    q->id = (uint16_t)id;
    q->entries = (uint16_t)entries;
    q->tail = q->head = 0;
    q->phase = true; /* the phase of the first round */
    memset(q->commands, 0, entries * sizeof *q->commands);
    memset(q->completions, 0, entries * sizeof *q->completions);
}

static void write_address(struct nvme *n, unsigned reg, const void *at)
{
    uint64_t address = dma_address(&n->setup.window, at);

    nvme_write(n, reg, (uint32_t)address);
    nvme_write(n, reg + 4, (uint32_t)(address >> 32));
}

/* 3.1.1 */
static enum err read_capabilities(struct nvme *n)
{
    uint32_t low = nvme_read(n, NVME_CAP), high = nvme_read(n, NVME_CAP + 4);
    uint32_t entries = min_u32((low & 0xffff) + 1, NVME_ENTRIES);

    n->stride = 4u << (high & 15);
    n->limit_ms = CAP_UNIT_MS * max_u32(low >> 24, 1);
    if ((high >> 16 & 15) != 0)
        return fail(n, ERR_UNSUPPORTED,
                    "the NVMe controller needs pages larger than 4 KiB: use another drive");
    if (!(high & 1u << 5))
        return fail(n, ERR_UNSUPPORTED,
                    "the NVMe controller has no block commands: use another drive");
    n->depth = min_u32((entries - 1) / COMMANDS_A_SLOT, NVME_DEPTH);
    if (n->depth == 0)
        return fail(n, ERR_UNSUPPORTED,
                    "the NVMe controller's queues are too short: use another drive");
    n->io.entries = (uint16_t)entries;
    return ERR_OK;
}

static enum err enable(struct nvme *n)
{
    set_queue(&n->admin, 0, NVME_ADMIN);
    set_queue(&n->io, NVME_IO_QUEUE, n->io.entries);
    dma_sync(&n->setup.window, n,
             offsetof(struct nvme, setup)); /* afterwards no cache line of the zeroed queues is
                                               dirty */
    nvme_write(n, NVME_AQA, (NVME_ADMIN - 1) << 16 | (NVME_ADMIN - 1));
    write_address(n, NVME_ASQ, n->admin_commands);
    write_address(n, NVME_ACQ, n->admin_completions);
    nvme_write(n, NVME_CC, CC_ENTRY_SIZES);
    nvme_write(n, NVME_CC, CC_ENTRY_SIZES | CC_ENABLE);
    return wait_ready(n, CSTS_READY);
}

/* Send one admin command, and wait for its completion. */
static enum err obey(struct nvme *n, const struct nvme_command *c)
{
    struct deadline d = deadline_in(n, ADMIN_LIMIT_MS);
    struct nvme_completion done;
    bool over = false;

    nvme_push(n, &n->admin, c);
    while (!nvme_pop(n, &n->admin, &done)) {
        if (over)
            return fail(n, ERR_TIMEOUT,
                        "the NVMe controller does not answer: switch the power off and on");
        over = is_over(n, &d); /* look once more after the limit */
    }
    nvme_popped(n, &n->admin);
    if (done.id != c->id || done.status >> 1 != 0)
        return fail(n, ERR_IO,
                    "the NVMe controller refused a command during its start: use another drive");
    return ERR_OK;
}

static enum err identify(struct nvme *n, uint32_t what, uint32_t namespace_id)
{
    struct nvme_command c = { .opcode = ADMIN_IDENTIFY,
                              .namespace_id = namespace_id,
                              .prp1 = dma_address(&n->setup.window, n->identify),
                              .dword10 = what };
    enum err e = obey(n, &c);

    dma_sync(&n->setup.window, n->identify, sizeof n->identify);
    return e;
}

/* Count the active namespaces after ours in the drive's list, which ends with a 0 (5.15.2.3). A
 * drive that does not know the list has only one namespace. */
static enum err count_others(struct nvme *n)
{
    uint32_t others = 0;
    enum err e = identify(n, IDENTIFY_ACTIVE, NVME_NAMESPACE);

    if (e != ERR_OK) {
        n->why = e == ERR_IO ? NULL : n->why;
        return e == ERR_IO ? ERR_OK : e;
    }
    for (const uint8_t *at = n->identify; others < NVME_PAGE / 4; at += 4, others++)
        if ((at[0] | at[1] | at[2] | at[3]) == 0)
            break;
    if (others != 0)
        left_out_note(LEFT_OUT_NAMESPACES, others, 0);
    return ERR_OK;
}

static enum err identify_both(struct nvme *n)
{
    struct nvme_facts before = n->facts;
    enum err e = identify(n, IDENTIFY_CONTROLLER, 0);

    if (e == ERR_OK && (n->why = nvme_read_controller(n->identify, &n->facts)) != NULL)
        return ERR_UNSUPPORTED;
    if (e == ERR_OK)
        e = identify(n, IDENTIFY_NAMESPACE, NVME_NAMESPACE);
    if (e == ERR_OK && (n->why = nvme_read_namespace(n->identify, &n->facts)) != NULL)
        return ERR_UNSUPPORTED;
    if (e == ERR_OK && before.n_blocks != 0 &&
        (before.n_blocks != n->facts.n_blocks || before.block_bytes != n->facts.block_bytes ||
         memcmp(before.who, n->facts.who, sizeof before.who) != 0)) {
        n->facts = before; /* the next drive must be compared with the first one, too */
        n->gone = true;    /* the first drive may come back */
        return fail(n, ERR_IO, "the NVMe drive was replaced by another: restart");
    }
    if (e == ERR_OK && before.n_blocks == 0 && n->facts.may_have_others)
        e = count_others(n); /* only at the first start */
    return e;
}

/* Create the queues, first the one for completions (5.3, 5.4), without interrupts. */
static enum err create_queues(struct nvme *n)
{
    uint32_t size = (n->io.entries - 1u) << 16 | NVME_IO_QUEUE;
    struct nvme_command number = { .opcode = ADMIN_SET_FEATURES, .dword10 = FEATURE_QUEUES };
    struct nvme_command cq = { .opcode = ADMIN_CREATE_CQ,
                               .prp1 = dma_address(&n->setup.window, n->completions),
                               .dword10 = size,
                               .dword11 = 1 };
    struct nvme_command sq = { .opcode = ADMIN_CREATE_SQ,
                               .prp1 = dma_address(&n->setup.window, n->commands),
                               .dword10 = size,
                               .dword11 = NVME_IO_QUEUE << 16 | 1 };
    enum err e = obey(n, &number);

    if (e == ERR_OK)
        e = obey(n, &cq);
    if (e == ERR_OK)
        e = obey(n, &sq);
    return e;
}

enum err nvme_start(struct nvme *n)
{
    enum err e = read_capabilities(n);

    n->stopped = false;
    if (e == ERR_OK)
        e = nvme_stop(n);
    if (e == ERR_OK)
        e = enable(n);
    if (e == ERR_OK)
        e = identify_both(n);
    if (e == ERR_OK)
        e = create_queues(n);
    return e;
}
