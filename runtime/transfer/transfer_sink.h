/* Write to the card a file that arrives in pieces. */
#ifndef INGOT_RUNTIME_TRANSFER_SINK_H
#define INGOT_RUNTIME_TRANSFER_SINK_H

#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/file.h"

enum { TRANSFER_SINK_BYTES = 32768 };

struct transfer_sink {
    const struct file *file;
    uint64_t at; /* offset of the next byte */
    size_t held; /* bytes in the buffer, before `at` */
    struct file_read io;
    _Alignas(64) uint8_t buffer[TRANSFER_SINK_BYTES];
};

/* Begin at byte `at` of the file, a multiple of 512. */
void transfer_sink_open(struct transfer_sink *s, const struct file *file, uint64_t at);

/* Take the next bytes. ERR_RANGE: beyond the file's end. Errors of file_write_now. */
enum err transfer_sink_put(struct transfer_sink *s, const uint8_t *bytes, size_t n);

/* Write held bytes to the card; afterwards only transfer_sink_open may be called. */
enum err transfer_sink_flush(struct transfer_sink *s);

#endif
