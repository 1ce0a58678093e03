/* The packer's messages during and after its work: progress and losses on standard error, and with
 * pack_options.report a line for every matrix on standard output. */
#ifndef INGOT_FLASH_IMAGE_PACK_REPORT_H
#define INGOT_FLASH_IMAGE_PACK_REPORT_H

#include <time.h>

#include "flash_image/pack/pack.h"
#include "flash_image/quantize/rows.h"
#include "flash_image/source/source.h"

struct pack_report {
    const struct pack_options *options;
    struct rows_loss tensor, all; /* losses of the current tensor, and of all tensors so far */
    uint64_t total_bytes;         /* of the output */
    struct timespec started;
    double shown;       /* when the progress line was last shown, in seconds after the start */
    int progress_width; /* width of the progress line on the terminal; 0: no line */
};

void pack_report_begin(struct pack_report *r, const struct pack_options *o, uint64_t total_bytes);

/* The struct in which rows.h counts losses; NULL: they are not reported. */
struct rows_loss *pack_report_loss(struct pack_report *r);

/* Show that `done` bytes are written: a bar, four times per second after the first second. */
void pack_report_progress(struct pack_report *r, uint64_t done);

/* why: the reason why the tensor does not have the requested type; "" if it has that type. */
void pack_report_tensor(struct pack_report *r, const struct source_tensor *t,
                        const struct ingot_tensor *entry, const char *why);
/* written: true if all tensors were written, so that losses can be reported. */
void pack_report_end(struct pack_report *r, bool written);

#endif
