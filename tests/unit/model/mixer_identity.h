/* A toy kind of mixer: it gives back what it gets, so that a layer adds its normed input to itself.
 * This file and its row in a list of mixers are all that a kind takes. */
#ifndef INGOT_TESTS_UNIT_MIXER_IDENTITY_H
#define INGOT_TESTS_UNIT_MIXER_IDENTITY_H

#include "runtime/model/layer.h"

enum { MIXER_IDENTITY = INGOT_MIXER_OWN };

/* The normed input lies in act.norm already, where the result is expected. */
static bool identity_run(const struct transformer *t, unsigned core)
{
    (void)t, (void)core;
    return true;
}

static const struct layer_block mixer_identity = { .kind = MIXER_IDENTITY,
                                                   .name = "identity",
                                                   .run = identity_run };

#endif
