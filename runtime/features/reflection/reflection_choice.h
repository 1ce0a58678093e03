/* The choices of a small model that looks back at a conversation. */
#ifndef INGOT_RUNTIME_REFLECTION_CHOICE_H
#define INGOT_RUNTIME_REFLECTION_CHOICE_H

struct chat;

/* Return a list of choices (grammar_constraint_use_choices), valid until the next turn. Each choice
 * stores, with memory tags, two of the person's three best sentences, or the only sentence. Returns
 * NULL if there is no such sentence. Call only with learn=on. */
const char *reflection_choices(struct chat *c);

#endif
