#include "board/memory_device.h"

#include <string.h>

enum { MAX_SECTORS = 2048 }; /* 1 MiB, because submit copies and should not take long */

static enum err memory_submit(struct block_device *dev, struct block_request *req)
{
    if (block_request_check(dev, req) != ERR_OK)
        return block_request_check(dev, req);
    memcpy(req->buffer, dev->memory + req->sector * SECTOR_BYTES,
           (size_t)req->n_sectors * SECTOR_BYTES);
    req->status = ERR_OK;
    req->done = true;
    return ERR_OK;
}

static enum err memory_poll(struct block_device *dev)
{
    (void)dev;
    return ERR_OK;
}

void memory_device_open(struct block_device *out, const char *name, const uint8_t *base,
                        uint64_t bytes)
{
    memset(out, 0, sizeof *out);
    out->name = name;
    out->memory = base;
    out->n_sectors = bytes / SECTOR_BYTES;
    out->max_sectors = MAX_SECTORS;
    out->queue_depth = 1;
    out->submit = memory_submit;
    out->poll = memory_poll;
}
