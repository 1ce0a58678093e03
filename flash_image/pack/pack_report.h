/* The packer's messages while it works and when it is done: progress and how much was lost on standard error, and with
 * pack_options.report a line for every matrix on standard output. */
#ifndef INGOT_FLASH_IMAGE_PACK_REPORT_H
#define INGOT_FLASH_IMAGE_PACK_REPORT_H

#include <time.h>

#include "flash_image/pack/pack.h"
#include "flash_image/quantize/rows.h"
#include "flash_image/source/source.h"

struct pack_report {
    const struct pack_options *options;
    struct rows_loss tensor, all; /* of the tensor at work, of all so far */
    uint64_t total_bytes;         /* of the output */
    struct timespec started;
    double shown;       /* seconds after the start */
    int progress_width; /* of its line on the terminal; 0: there is none */
};

void pack_report_begin(struct pack_report *r, const struct pack_options *o, uint64_t total_bytes);

/* The place in which rows.h counts losses; NULL: nobody is told. */
struct rows_loss *pack_report_loss(struct pack_report *r);

/* `done` bytes are written: a bar, four times a second once one second has passed. */
void pack_report_progress(struct pack_report *r, uint64_t done);

/* why: it has another type than was asked for, or "". */
void pack_report_tensor(struct pack_report *r, const struct source_tensor *t,
                        const struct ingot_tensor *entry, const char *why);
/* written: all tensors are, so that what was lost can be told. */
void pack_report_end(struct pack_report *r, bool written);

#endif
