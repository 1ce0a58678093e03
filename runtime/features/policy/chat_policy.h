/* How a turn is answered, chosen by a policy that learns from how turns went (runtime/features/policy/experience.h): with
 * thoughts or without, warmer or cooler, how much of the context may be taken, whether to guess. Only with
 * policy=. The question is computed first, up to where thoughts would make a difference, since its hidden
 * states are what the policy knows it by. */
#ifndef INGOT_RUNTIME_CHAT_POLICY_H
#define INGOT_RUNTIME_CHAT_POLICY_H

#include "runtime/chat/chat.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/session/generate.h"

/* The model planned room for it (model_setup.watches). */
void chat_policy_open(struct chat *c);

/* The turn's tokens are pending in the session, the first of them is number own: compute those of the question,
 * choose, and put the choice to work until chat_policy_end. Where a turn is answered by no policy nothing
 * happens. Errors of session_run; then nothing was chosen. */
enum err chat_policy_begin(struct chat *c, uint32_t own, const char *text, size_t bytes,
                           const struct stop *stop);

/* The reply is there (error: as generate gave it), or came to nothing. What chat_policy_begin computed counts as
 * part of its prompt. */
void chat_policy_end(struct chat *c, struct generate_result *r, enum err error);

/* Whether the reply at work is asked for without thoughts. */
static inline bool chat_policy_is_quiet(const struct chat *c)
{
    return c->policy.works && c->policy.took[POLICY_THOUGHTS] == 1;
}

/* Before a turn is put: how many tokens of the context may be taken then, the turn's included. */
uint32_t chat_policy_room(const struct chat *c);

/* The conversation ends. */
void chat_policy_clear(struct chat *c);

/* The last turn was good or bad, or is taken back. False: there is none that is not judged. */
bool chat_policy_rate(struct chat *c, bool good);
bool chat_policy_undone(struct chat *c);

/* What was seen goes to a file and comes back, in place of what is there; the latest turn is judged before. Errors of
 * saved_chat_write and saved_chat_read; io->problem. */
enum err chat_policy_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_policy_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_policy_bytes(struct chat *c); /* that the file has to have, whatever comes */

/* What the policy last chose, as a sentence: "thoughts off (0.83 sure), temperature as set (0.41), ...". */
const char *chat_policy_text(const struct chat *c, char *text, size_t bytes);

#endif
