/* What the tags of a reply ask for is kept until the turn has ended. On while there is somebody who does it: the fabric. */
#include "runtime/features/memory_tags/tags_feature.h"

#include <string.h>

static void begin(void *state, struct feature_turn *t, struct generate_params *p,
                  struct generator *g)
{
    (void)t;
    (void)p;
    (void)g;
    memset(state, 0, sizeof(struct memory_tags));
}

static void add(void *state, struct feature_turn *t, const struct hidden_tag *tag)
{
    (void)t;
    memory_tags_add(state, tag);
}

static void reset(void *state, struct chat *c)
{
    (void)state;
    features_switch(c->features, FEATURE_memory_tags, false);
}

const struct feature feature_memory_tags = {
    .name = "memory_tags",
    .state_bytes = sizeof(struct memory_tags),
    .reset = reset,
    .chooses = begin,
    .tagged = add,
};
