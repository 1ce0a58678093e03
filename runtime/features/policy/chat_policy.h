/* How a turn is answered, chosen by a policy that learns from the results of turns
 * (runtime/features/policy/experience.h): with thoughts or without, at a higher or lower
 * temperature, how much of the context to use, whether to guess. Only with policy=. The question
 * is computed first, up to where thoughts would make a difference, because the policy recognizes
 * it by its hidden states. */
#ifndef INGOT_RUNTIME_CHAT_POLICY_H
#define INGOT_RUNTIME_CHAT_POLICY_H

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/features/policy/experience.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/session/generate.h"

struct chat_policy {
    bool is_open;
    bool works; /* a choice, for the running reply: */
    struct experience experience;
    struct policy_choice choice;
    uint8_t took[POLICY_HEADS]; /* what was chosen for the latest turn */
    float throughput;           /* throughput of its reply, as in struct policy_state */
    float temp;                 /* saved parameters of the sampler, and ... */
    bool timed;                 /* ... of guesses */
    uint32_t computed;          /* tokens of the prompt before the choice; and its time: */
    uint64_t start;
    struct stream_stats before;
};

static inline struct chat_policy *policy_of(const struct chat *c)
{
    return c->features->state[FEATURE_policy];
}

/* The model planned room for it. */
void chat_policy_open(struct chat *c);

/* The last turn was good or bad, or is taken back. False: no turn waits for judgement. */
bool chat_policy_rate(struct chat *c, bool good);
bool chat_policy_undone(struct chat *c);

/* Save the experience to a file, or load it in place of the present one; first judges the latest
 * turn. Errors of saved_chat_write and saved_chat_read; io->error_message. */
enum err chat_policy_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_policy_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_policy_bytes(struct chat *c); /* size that the file must have in any case */

/* The policy's last choice, as a sentence: "thoughts off (0.83 sure), temperature as set (0.41),
 * ...". */
const char *chat_policy_text(const struct chat *c, char *text, size_t bytes);

/* The results of all turns, and of the last one, for /learned. */
void chat_policy_print(struct chat *c);

extern const struct feature_saved policy_saved;

/* The hooks of a start. */
size_t policy_memory(void *state, const struct app *a, const struct image *image);
void policy_loaded(void *state, struct app *a);

#endif
