/* A policy that learns from the results of turns
 * (runtime/features/policy/experience.h) chooses how a turn is answered: with or without
 * thoughts, at which temperature, in how much context, with guesses or not. Only with policy=. The
 * part of the question that does not depend on thoughts is computed first, because the policy
 * recognizes a question by its hidden states. */
#ifndef INGOT_RUNTIME_CHAT_POLICY_H
#define INGOT_RUNTIME_CHAT_POLICY_H

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/features/policy/experience.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/session/generate.h"

struct chat_policy {
    bool is_open;
    bool works; /* a choice applies to the running reply: */
    struct experience experience;
    struct policy_choice choice;
    uint8_t took[POLICY_HEADS]; /* the choices for the latest turn */
    float throughput;           /* throughput of its reply, as in struct policy_state */
    float temp;                 /* saved parameters of the sampler */
    bool timed;                 /* saved parameters of guesses */
    uint32_t computed;          /* tokens of the prompt that were computed before the
                                 * choice */
    uint64_t start;
    struct stream_stats before;
};

static inline struct chat_policy *policy_of(const struct chat *c)
{
    return c->features->state[FEATURE_policy];
}

/* Open the policy, for which the model planned room. */
void chat_policy_open(struct chat *c);

/* Judge the last turn as good or bad, or as taken back. Returns false if it is judged already. */
bool chat_policy_rate(struct chat *c, bool good);
bool chat_policy_undone(struct chat *c);

/* Save the experience to a file, or load it in place of the present one; first judges the latest
 * turn. Errors of saved_chat_write and saved_chat_read; io->error_message. */
enum err chat_policy_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_policy_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_policy_bytes(struct chat *c); /* size that the file must have in any case */

/* Return the policy's last choice, as a sentence: "thoughts off (0.83 sure), temperature as set
 * (0.41), ...". */
const char *chat_policy_text(const struct chat *c, char *text, size_t bytes);

/* The results of all turns, and of the last one, for /learned. */
void chat_policy_print(struct chat *c);

extern const struct feature_saved policy_saved;

/* The hooks of a start. */
size_t policy_memory(void *state, const struct app *a, const struct image *image);
void policy_loaded(void *state, struct app *a);

#endif
