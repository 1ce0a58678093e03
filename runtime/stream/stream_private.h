/* What the parts of the stream, and the pages beside it, share; nobody else includes it. */
#ifndef INGOT_RUNTIME_STREAM_PRIVATE_H
#define INGOT_RUNTIME_STREAM_PRIVATE_H

#include "runtime/stream/stream.h"

enum { STREAM_REREADS = 3 }; /* where a checksum does not match, before that is an error */

/* "NAME: PART, sector 1234 of DEVICE: the device failed ..." into s->problem; returns e.
 * read may be NULL. */
enum err stream_name_part(struct stream *s, const struct file *file, const char *part,
                          const struct file_read *read, enum err e, const char *why);

/* The same of an segment of the model. */
enum err stream_name_problem(struct stream *s, unsigned segment, const struct file_read *read,
                             enum err e);

/* A poll while something is waited for. */
void stream_pump(struct stream *s);

#endif
