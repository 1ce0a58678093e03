/* `ingot serve` keeps computed prompts (runtime/saved/kept.h) in the memory of this process and in
 * a file. */
#ifndef INGOT_HOST_SERVE_KEPT_H
#define INGOT_HOST_SERVE_KEPT_H

#include "runtime/app/app.h"
#include "runtime/saved/kept.h"

enum {
    SERVE_KEPT_MIB = 256,      /* the default, but at most a sixteenth of the memory */
    SERVE_KEPT_FILE_TIMES = 4, /* size of a new file, as a multiple of the memory for kept
                                * prompts */
    SERVE_KEPT_MOST_MIB = 1 << 20,
};

struct serve_kept_setup {
    const char *path; /* NULL: no file */
    bool is_given;    /* mib was given */
    uint32_t mib;     /* 0: nothing is kept */
};

/* Opens the kept prompts for the sequences of a loaded model. If prompts cannot be kept, prints the
 * reason, and the server goes on without them. If the file cannot be used, prints the error to
 * standard error and returns false. */
bool serve_kept_open(struct kept *k, const struct serve_kept_setup *setup, struct app *app);

/* Writes the rest of the file and closes it. */
void serve_kept_close(struct kept *k);

#endif
