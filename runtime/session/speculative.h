/* Speculative decoding (arXiv 2211.17192): the next tokens are guessed, and one pass of the
 * model checks all of them, so that its weights are read once for several tokens. Text and
 * logits are those of plain decoding: equal bits and ids at temp 0 and with n-gram guesses; the
 * same distribution with a draft model at a temperature. */
#ifndef INGOT_RUNTIME_SPECULATIVE_H
#define INGOT_RUNTIME_SPECULATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/session/ngram.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session.h"

/* The least number of guesses if the user asked for guessing; a timed guess may be a single one. */
enum { SPECULATIVE_LEAST = 2, SPECULATIVE_MOST = MODEL_MOST_GUESSES };

struct speculative_stats {
    uint32_t guessed; /* guessed tokens in passes */
    uint32_t right;   /* number of these guesses that were right */
};

struct speculative {
    struct session *session;
    struct session *draft; /* NULL: n-gram lookup */
    struct {
        bool on;        /* whether the draft is the MTP head of the model (speculative_mtp.h) */
        uint32_t first; /* index of the session's token with which the head's sequence begins */
        uint32_t exact; /* how many of the head's tokens were computed with the model's hidden
                         * states */
        struct session_watch watch;
    } mtp;
    bool on;
    bool timed;         /* true: guess only if measured times say that it saves time; false: the
                         * user asked for guesses, and each counts with a fixed cost, so that all
                         * machines guess equally */
    uint32_t n_guessed; /* guesses in the last run */
    uint32_t n_right;   /* number of these that were right */
    uint32_t source;    /* source of the guesses: 0 for the draft, otherwise the number of tokens
                         * that matched */
    float rate[NGRAM_LONGEST + 1]; /* measured probability that a guess of a source is right */
    /* cost[n] is the extra time of a pass with n guesses, in units of a pass over one token. Below
     * 0: not known yet. Kernels take two or four tokens at a time, so costs are not
     * proportional. */
    float cost[SPECULATIVE_MOST + 1];
    float plain_ticks; /* ticks of a pass over one token; 0: not known yet */
    float last_cost;   /* cost of the last run's guesses, in the unit of `cost` */
    /* Counts since the last verdict on whether timed guesses save time: their cost, their number,
     * and how many were right. After a negative verdict there are no guesses for `rest`
     * tokens; the next rest is twice as long. */
    struct {
        uint32_t guessed, right;
        float cost;
        uint32_t rest, next_rest;
    } trial;
    struct speculative_stats stats;
    struct sampler_guess guesses[SPECULATIVE_MOST]; /* distributions of the last run's
                                                     * guesses */
};

/* The source of guesses. AUTO: a draft, or repeated text if that saves time; OFF: none; NGRAM:
 * repeated text. */
enum speculative_mode { SPECULATIVE_AUTO, SPECULATIVE_OFF, SPECULATIVE_NGRAM };

struct speculative_params {
    enum speculative_mode mode;
    bool has_draft;
};

/* Return the room for guesses that a model needs with these parameters. */
enum model_guesses speculative_room(const struct speculative_params *p);

/* Return the setup of the draft in `file`, for a model with the setup `target`. The draft takes the
 * beginning of the RAM, see speculative_leave. */
struct model_setup speculative_draft_setup(const struct model_setup *target,
                                           const struct file *file);

/* Reduce the RAM of `target` to the part after an open draft. */
void speculative_leave(struct model_setup *target, const struct model *draft);

/* Check that a draft has the same tokens as the model: the same number, each with the same text.
 * ERR_UNSUPPORTED: tokens differ; draft->error_message says what to do. */
enum err speculative_check(struct model *draft, const struct model *model);

/* draft: the session of the guessing model, or NULL. Both outlive s. p must match the setup of the
 * session's model. */
void speculative_open(struct speculative *s, struct session *session, struct session *draft,
                      const struct speculative_params *p);

/* Record that a pass with n guesses took `ticks`. */
void speculative_learn_cost(struct speculative *s, uint32_t n, uint64_t ticks);

/* Return how many guesses save time if the source is right with probability `rate`. */
uint32_t speculative_length(const struct speculative *s, float rate);

/* Append the prompt, which the session already has, also to the draft. ERR_ABORTED
 * and ERR_TOO_LONG do no harm: the draft computes the tokens later. */
void speculative_follow(struct speculative *s, const struct stop *stop);

/* Pick the token after the session's last one, from its logits, which are destroyed.
 * SAMPLER_NO_TOKEN: see sampler_pick. */
uint32_t speculative_pick(struct speculative *s, struct sampler *sampler);

/* Compute the token that session_put_next added: without a pass if it was guessed, otherwise with a
 * pass that includes new guesses. most: number of tokens wanted after this one, at least 1. Errors:
 * those of session_run. */
enum err speculative_run(struct speculative *s, struct sampler *sampler, uint32_t most,
                         const struct stop *stop);

#endif
