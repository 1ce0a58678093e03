/* Collects the operations of tags in a reply, and runs them after the turn. This feature is on
 * whenever the fabric is. */
#include "runtime/features/memory_tags/tags_feature.h"

#include <string.h>

#include "runtime/console/console.h"
#include "runtime/features/fabric/chat_fabric.h"
#include "runtime/text/plural.h"

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

/* ---- after the turn ------------------------------------------------------------------------- */

static void obey(struct chat *c, const struct memory_operation *o)
{
    enum fabric_name space = (enum fabric_name)o->space;
    const char *name = fabric_kinds[space].name;
    struct chat_lesson lesson;
    enum err e;

    if (o->tag == MEMORY_FORGET) {
        chat_fabric_forget_space(c, space);
        console_printf(c->console, "(forgotten: all of %s)\n", name);
        return;
    }
    e = chat_fabric_remember(c, space, o->text, o->bytes, &lesson);
    if (e == ERR_OK) {
        console_printf(c->console, "(remembered in %s: %.*s)\n", name, (int)o->bytes, o->text);
    } else {
        console_printf(c->console, "(not remembered in %s: %s)\n", name,
                       e == ERR_BAD_ARGUMENT ? "one word is not a memory" : err_text(e));
    }
}

void memory_tags_obey(struct chat *c, const struct memory_tags *tags)
{
    if (!lessons_of(c)->learns ||
        c->options->line.locked) { /* a locked serial line must not change anything permanently */
        return;
    }
    console_to_log(c->console, true);
    for (uint32_t i = 0; i < tags->n; i++) {
        obey(c, &tags->operations[i]);
    }
    if (tags->refused != 0) {
        console_printf(c->console, "(%u memory %s of the reply had no effect)\n",
                       (unsigned)tags->refused, plural(tags->refused, "tag", "tags"));
    }
    console_to_log(c->console, false);
}

static void end(void *state, struct feature_turn *t, const char *reason)
{
    (void)reason;
    memory_tags_obey(t->chat, state);
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
    .turn_ended = end,
};
