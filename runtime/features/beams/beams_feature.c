/* Search for the reply instead of sampling it. */
#include <string.h>

#include "runtime/features/beams/beams_state.h"

static void reset(void *state, struct chat *c)
{
    memset(state, 0, sizeof(struct beams));
    features_switch(c->features, FEATURE_beams, false);
}

static void choose(void *state, struct feature_turn *t, struct generate_params *p,
                   struct generator *g)
{
    (void)t;
    (void)p;
    g->beams = state;
}

const struct feature feature_beams = {
    .name = "beams", .state_bytes = sizeof(struct beams), .reset = reset, .chooses = choose
};
