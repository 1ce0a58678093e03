/* The model, the conversation with it, and what the machine does for that: another model, files for
 * what was said, a restart. */
#ifndef INGOT_BOOT_TALK_H
#define INGOT_BOOT_TALK_H

#include <stdbool.h>

#include "kernels/kernels.h"
#include "runtime/base/platform.h"
#include "runtime/compute/workers.h"
#include "runtime/options/options.h"

struct talk_setup {
    const struct platform *platform;
    struct options *options;
    struct kernels *kernels; /* checked again by /selftest */
    struct workers *workers; /* started, with a trace */
};

/* Find the cards and load the model of the options, or none where Ctrl-C stops that; all of setup
 * outlives the conversation. False: talk_problem() says why. Once. */
bool talk_open(const struct talk_setup *setup);
const char *talk_problem(void);

/* One reply to prompt=, or a conversation until it ends. 0, or 1 where the reply failed. */
int talk(void);

#endif
