/* `ingot serve` keeps prompts that were computed (runtime/saved/kept.h) in memory of this process and in a file. */
#ifndef INGOT_HOST_SERVE_KEPT_H
#define INGOT_HOST_SERVE_KEPT_H

#include "runtime/app/app.h"
#include "runtime/saved/kept.h"

enum {
    SERVE_KEPT_MIB = 256, /* unless said; less where this is more than a sixteenth of the memory */
    SERVE_KEPT_FILE_TIMES = 4, /* a new file is so many times as large */
    SERVE_KEPT_MOST_MIB = 1 << 20,
};

struct serve_kept_setup {
    const char *path; /* NULL: no file */
    bool is_given;    /* mib is */
    uint32_t mib;     /* 0: nothing is kept */
};

/* For the sequences of a model that is loaded. If something is in the way, it is said and nothing is kept. False: the
 * file cannot be had, which is said on standard error. */
bool serve_kept_open(struct kept *k, const struct serve_kept_setup *setup, struct app *app);

/* All that the file is to have is written. */
void serve_kept_close(struct kept *k);

#endif
