/* What the parts of the stream, and the pages beside it, share; nobody else includes it. */
#ifndef INGOT_RUNTIME_STREAM_PRIVATE_H
#define INGOT_RUNTIME_STREAM_PRIVATE_H

#include "runtime/compute/workers.h"
#include "runtime/stream/stream.h"

enum { STREAM_REREADS = 3 }; /* where a checksum does not match, before that is an error */

/* "NAME: PART, sector 1234 of DEVICE: the device failed ..." into s->problem; returns e.
 * read may be NULL. */
enum err stream_name_part(struct stream *s, const struct file *file, const char *part,
                          const struct file_read *read, enum err e, const char *why);

/* The same of an segment of the model. */
enum err stream_name_problem(struct stream *s, unsigned segment, const struct file_read *read,
                             enum err e);

/* The clock of the file's device, of which stats->stall_ticks and busy_ticks are; 0: it has none. */
static inline uint64_t stream_ticks(const struct stream *s)
{
    const struct platform *platform = s->file->timeout.platform;

    if (platform == NULL) {
        return 0;
    }
    return platform_ticks(&platform->clock);
}

/* A poll while something is waited for. */
void stream_pump(struct stream *s);

#endif
