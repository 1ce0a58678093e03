/* A toy kind of mixer: it returns its input, so that a layer adds its normed input to itself. This
 * file and its row in a list of mixers are all that a kind needs. */
#ifndef INGOT_TESTS_UNIT_MIXER_IDENTITY_H
#define INGOT_TESTS_UNIT_MIXER_IDENTITY_H

#include <string.h>

#include "runtime/model/layer.h"

enum { MIXER_IDENTITY = INGOT_MIXER_OWN };

/* Copies this core's rows of the normed input. */
static bool identity_run(const struct transformer *t, unsigned core)
{
    const struct activations *a = &t->act;
    size_t first, last;

    workers_share(t->workers, core, params(t)->dim, ROW_STEP, &first, &last);
    for (uint32_t i = 0; i < t->n_tokens; i++) {
        memcpy(a->out + i * a->dim_stride + first, a->norm + i * a->dim_stride + first,
               (last - first) * sizeof(float));
    }
    return true;
}

static const struct layer_block mixer_identity = { .kind = MIXER_IDENTITY,
                                                   .name = "identity",
                                                   .run = identity_run };

#endif
