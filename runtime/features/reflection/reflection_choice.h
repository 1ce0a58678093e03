/* The choices of a small model that looks back at a conversation. */
#ifndef INGOT_RUNTIME_REFLECTION_CHOICE_H
#define INGOT_RUNTIME_REFLECTION_CHOICE_H

struct chat;

/* Return a list of choices (grammar_constraint_use_choices), valid until the next turn. Each choice
 * stores a pair of the up to three best sentences of the person with memory tags, or the only one.
 * NULL: no sentence. Only with learn=on. */
const char *reflection_choices(struct chat *c);

#endif
