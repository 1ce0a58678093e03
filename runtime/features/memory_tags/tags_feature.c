/* Tags are never shown, whether anything is remembered or not. */
#include "runtime/features/memory_tags/tags_feature.h"

static void pass_on(void *context, const char *text, size_t bytes)
{
    const struct tags_state *s = context;

    s->next.write(s->next.context, text, bytes);
}

static void write_text(void *context, const char *text, size_t bytes)
{
    memory_tags_write(context, text, bytes);
}

static void show(void *state, struct feature_turn *t, struct feature_text *to)
{
    struct tags_state *s = state;

    (void)t;
    s->next = *to;
    memory_tags_open(&s->tags, pass_on, s);
    *to = (struct feature_text){ write_text, &s->tags };
}

static void end_text(void *state, struct feature_turn *t)
{
    (void)t;
    memory_tags_end(&((struct tags_state *)state)->tags);
}

static void end_reply(void *state, struct feature_turn *t, enum err error)
{
    (void)error;
    end_text(state, t);
}

static void reset(void *state, struct chat *c)
{
    (void)state;
    features_switch(c->features, FEATURE_memory_tags, true);
}

const struct feature feature_memory_tags = {
    .name = "memory_tags",
    .state_bytes = sizeof(struct tags_state),
    .reset = reset,
    .shows = show,
    .text_breaks = end_text,
    .reply_ends = end_reply,
};
