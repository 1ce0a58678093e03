/* Sections are those of the NVM Express Base Specification 1.4. */
#include "board/drivers/block/nvme_registers.h"

static unsigned doorbell(const struct nvme *n, const struct nvme_queue *q, bool completions)
{
    return NVME_DOORBELLS + (2u * q->id + completions) * n->stride; /* 3.1.24, 3.1.25 */
}

void nvme_push(struct nvme *n, struct nvme_queue *q, const struct nvme_command *c)
{
    q->commands[q->tail] = *c;
    dma_sync(&n->setup.window, &q->commands[q->tail], sizeof *c); /* before the doorbell */
    q->tail = (uint16_t)((q->tail + 1) % q->entries);
    nvme_write(n, doorbell(n, q, false), q->tail);
}

/* The controller flips the phase with each round of the queue, and writes it last (4.6). */
bool nvme_pop(struct nvme *n, struct nvme_queue *q, struct nvme_completion *out)
{
    const volatile uint16_t *status = &q->completions[q->head].status;

    dma_sync(&n->setup.window, &q->completions[q->head], sizeof *out);
    if ((*status & 1) != q->phase)
        return false;
    dma_sync(&n->setup.window, &q->completions[q->head], sizeof *out); /* only then read the other
                                                                          words and the data */
    *out = q->completions[q->head];
    if (++q->head == q->entries) {
        q->head = 0;
        q->phase = !q->phase;
    }
    return true;
}

void nvme_popped(struct nvme *n, const struct nvme_queue *q)
{
    dma_barrier(); /* the entries are read before the controller may write them again */
    nvme_write(n, doorbell(n, q, true), q->head);
}
