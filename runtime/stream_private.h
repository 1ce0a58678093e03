/* What the parts of the stream share; nobody else includes it. */
#ifndef INGOT_RUNTIME_STREAM_PRIVATE_H
#define INGOT_RUNTIME_STREAM_PRIVATE_H

#include "runtime/stream.h"

enum { STREAM_REREADS = 3 }; /* where a checksum does not match, before that is an error */

/* "NAME: layer 3, sector 1234 of DEVICE: the device failed ..." into s->problem; returns e.
 * read may be NULL. */
enum err stream_name_problem(struct stream *s, unsigned extent, const struct file_read *read,
                             enum err e);

#endif
