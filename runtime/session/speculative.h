/* Speculative decoding (arXiv 2211.17192): tokens that probably come next are guessed, and one
 * pass of the model looks at all of them, so that its weights are read once for several tokens.
 * Text and logits are those of plain decoding: at temp 0 and with n-gram guesses bit for bit and
 * id by id, with a draft model at a temperature in their distribution. */
#ifndef INGOT_RUNTIME_SPECULATIVE_H
#define INGOT_RUNTIME_SPECULATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/engine/engine.h"
#include "runtime/session/ngram.h"
#include "runtime/app/options.h"
#include "runtime/session/sampler.h"

enum { SPECULATIVE_LEAST = 2, SPECULATIVE_MOST = ENGINE_MOST_GUESSES };

struct speculative_stats {
    uint32_t guessed; /* tokens that passes ran ahead over */
    uint32_t right;   /* of these, that came next */
};

struct speculative {
    struct engine *engine;
    struct engine *draft; /* NULL: n-gram lookup */
    bool on;
    bool timed;         /* guess where that saves time; else, as it was asked for, where it saves
                             * passes: the same ones on every machine */
    uint32_t n_guessed; /* in the last run, and ... */
    uint32_t n_right;   /* ... how many came true */
    uint32_t source;    /* of its guesses: 0 the draft, else the tokens that stood earlier */
    float rate[NGRAM_LONGEST + 1]; /* probability that a guess of a source is right, measured */
    float cost;                    /* of a guess, in passes over one token */
    float plain_ticks;             /* of such a pass; 0: not known yet */
    struct speculative_stats stats;
    struct sampler_guess guesses[SPECULATIVE_MOST]; /* what each of the last run was drawn from */
};

/* How an engine must be set up for the options spec= and draft=. */
enum engine_guesses speculative_room(const struct options *o);

/* The setup of the draft of an engine that is set up so; file: the draft's. It takes the
 * beginning of the RAM, see speculative_leave. */
struct engine_setup speculative_draft_setup(const struct engine_setup *target,
                                            const struct file *file);

/* The RAM of `target` behind an open draft. */
void speculative_leave(struct engine_setup *target, const struct engine *draft);

/* Whether a draft speaks the model's tokens: as many, each with the same text. ERR_UNSUPPORTED:
 * draft->problem says what to do. */
enum err speculative_check(struct engine *draft, const struct engine *engine);

/* engine is loaded; draft, too, or NULL. Both outlive s. */
void speculative_open(struct speculative *s, struct engine *engine, struct engine *draft,
                      const struct options *o);

/* The prompt has been appended to the engine: so it is to the draft. ERR_ABORTED and ERR_TOO_LONG
 * do no harm: the draft catches up when it can. */
void speculative_follow(struct speculative *s, bool (*should_stop)(void *), void *context);

/* The token after the engine's last one, by the engine's logits, which it destroys.
 * SAMPLER_NO_TOKEN: see sampler_pick. */
uint32_t speculative_pick(struct speculative *s, struct sampler *sampler);

/* Append the token that engine_was_guessed has put behind the cache: without a pass where it was
 * guessed, else with one that runs ahead over new guesses. most: tokens that are wanted after it,
 * at least 1. Errors as engine_append. */
enum err speculative_append(struct speculative *s, struct sampler *sampler, uint32_t most,
                            bool (*should_stop)(void *), void *context);

#endif
