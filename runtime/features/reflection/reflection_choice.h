/* The choices of a small model that looks back at a conversation. */
#ifndef INGOT_RUNTIME_REFLECTION_CHOICE_H
#define INGOT_RUNTIME_REFLECTION_CHOICE_H

struct chat;

/* A list of choices (grammar_constraint_use_choices), valid until the next turn: two of up to three
 * of the person's sentences, as memory tags; or the only one. NULL: there is none. Only with
 * learn=on. */
const char *reflection_choices(struct chat *c);

#endif
