/* A policy that learns from the results of turns (runtime/features/policy/experience.h) chooses how
 * a turn is answered: with or without thoughts and guesses, at which temperature, in how much
 * context. It is used only with policy=. The tokens that do not depend on this choice are computed
 * first, because the policy recognizes a question by its hidden states. */
#ifndef INGOT_RUNTIME_CHAT_POLICY_H
#define INGOT_RUNTIME_CHAT_POLICY_H

#include "runtime/chat/chat.h"
#include "runtime/features/feature.h"
#include "runtime/features/policy/experience.h"
#include "runtime/saved/saved_chat.h"
#include "runtime/session/generate.h"

struct chat_policy {
    bool is_open;
    bool works; /* a choice applies to the current reply */
    struct experience experience;
    struct policy_choice choice;
    uint8_t took[POLICY_HEADS]; /* the choices for the latest turn */
    float throughput;           /* the reply's throughput, as in struct policy_state */
    float temp;                 /* the sampler's temperature before the policy changed it */
    bool timed;                 /* speculative.timed before the policy changed it */
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

/* Judge the last turn as good or bad, or as taken back. Returns false if the turn was judged
 * before. */
bool chat_policy_rate(struct chat *c, bool good);
bool chat_policy_undone(struct chat *c);

/* First judge the latest turn. Then save the experience to a file, or load an experience in its
 * place. Errors: those of saved_chat_write and saved_chat_read, with io->error_message. */
enum err chat_policy_save(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
enum err chat_policy_load(struct chat *c, struct saved_chat *io, const struct file *file,
                          saved_chat_progress_fn *progress, void *context);
uint64_t chat_policy_bytes(struct chat *c); /* the smallest file that holds the experience */

/* Return the policy's last choice, as a sentence: "thoughts off (0.83 sure), temperature as set
 * (0.41), ...". */
const char *chat_policy_text(const struct chat *c, char *text, size_t bytes);

/* Print the results of all turns, and of the last turn, for /learned. */
void chat_policy_print(struct chat *c);

extern const struct feature_saved policy_saved;

/* The hooks of a start. */
size_t policy_memory(void *state, const struct app *a, const struct image *image);
void policy_loaded(void *state, struct app *a);

#endif
