#include "runtime/transfer/transfer_sink.h"

#include <string.h>

#include "board/min_max.h"

void transfer_sink_open(struct transfer_sink *s, const struct file *file, uint64_t at)
{
    s->file = file;
    s->at = at;
    s->held = 0;
}

enum err transfer_sink_flush(struct transfer_sink *s)
{
    size_t bytes = (s->held + SECTOR_BYTES - 1) / SECTOR_BYTES * SECTOR_BYTES;
    uint64_t at = s->at - s->held;

    memset(s->buffer + s->held, 0, bytes - s->held);
    s->held = 0;
    return bytes == 0 ? ERR_OK : file_write_now(&s->io, s->file, at, s->buffer, bytes);
}

enum err transfer_sink_put(struct transfer_sink *s, const uint8_t *bytes, size_t n)
{
    enum err e = ERR_OK;

    if (n > s->file->bytes - s->at) {
        return ERR_RANGE;
    }
    while (e == ERR_OK && n != 0) {
        size_t part = min_size(n, sizeof s->buffer - s->held);

        memcpy(s->buffer + s->held, bytes, part);
        s->held += part;
        s->at += part;
        bytes += part;
        n -= part;
        if (s->held == sizeof s->buffer) {
            e = transfer_sink_flush(s);
        }
    }
    return e;
}
