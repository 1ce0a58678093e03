/* A model ready to run: opened from a file, planned into the arena, its weights loaded or
 * streaming, its tokens so far in the KV cache. */
#ifndef INGOT_RUNTIME_ENGINE_H
#define INGOT_RUNTIME_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/board.h"
#include "board/err.h"
#include "kernels/kernels.h"
#include "runtime/base/arena.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/compute/workers.h"
#include "runtime/app/options.h"
#include "runtime/model/transformer.h"
#include "runtime/image/image.h"
#include "runtime/storage/io_core.h"
#include "runtime/storage/file.h"
#include "runtime/stream/kv_pages.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream.h"
#include "runtime/tokenizer/tokenizer.h"

enum {
    ENGINE_PROBLEM_BYTES = 400,
    ENGINE_TEXT_BYTES =
        16384,               /* longest text that is tokenized at once: a line with its template */
    ENGINE_HASHED_ROWS = 32, /* positions whose logits enter the hash */
    ENGINE_MOST_GUESSES = 8, /* tokens that one pass may run ahead */
    ENGINE_DRAFT_CHUNK = 32, /* prompt tokens that pass a draft together */
};

enum engine_guesses { ENGINE_NO_GUESSES, ENGINE_GUESSES_IF_STREAMED, ENGINE_GUESSES };

struct engine_setup {
    struct memory_range ram; /* the arena */
    const struct file
        *file; /* must outlive the engine; where its device is an io_core's, a core may
                              * leave the workers for it */
    struct workers *workers; /* started */
    const struct kernels *kernels;
    size_t weight_limit;          /* mem=; 0: none */
    uint32_t context;             /* ctx=; 0: the model's */
    uint32_t chunk;               /* 0: default */
    enum kv_type kv_type;         /* kv= */
    bool kv_card;                 /* keys and values may spill, ... */
    const struct file *kv_file;   /* ... to this file, which takes writes; NULL: only planned */
    struct plan_rates rates;      /* of the machine, where they are known */
    bool probe;                   /* measure them, for the plan; never for a draft */
    enum engine_guesses guesses;  /* whether room for logits ahead is planned */
    stream_progress_fn *progress; /* of opening and loading; or NULL */
    void *progress_context;
    bool draft; /* whole in memory, no text of its own, a short chunk; a context
                               * beyond the model's is cut */
};

struct engine {
    struct arena arena;
    struct image image;
    struct plan_request request;  /* that the plan answers */
    struct plan_rates lent_rates; /* of request.rates.lent */
    struct plan plan;
    struct stream stream;
    struct kv_cache kv;
    struct kv_pages pages;   /* where keys and values spill */
    struct io_core *io_core; /* at work in passes for which the plan lends a core; or NULL */
    struct transformer transformer;
    struct tokenizer tokenizer;
    const struct kernels *kernels;
    const struct file *file;
    uint32_t *ids; /* (context) every token in the cache, in order */
    void *scratch; /* tokenizer or sampler, one at a time */
    size_t scratch_bytes;
    float *logits;        /* (vocab) after the last token of the cache; NULL: none yet */
    uint32_t n_ahead;     /* guesses behind the cache's length, ids[kv.length ...], whose keys,
                           * values and logits are there should they turn out right */
    uint64_t logits_hash; /* FNV-1a 64 of the first ENGINE_HASHED_ROWS rows since engine_clear */
    uint32_t n_hashed;
    bool hashes;                        /* true from engine_open on; false saves the time */
    char problem[ENGINE_PROBLEM_BYTES]; /* after an error: a sentence for the user */
};

/* Read and check the header and tables, and plan. Nothing else is read yet, so that the plan can
 * be shown first. Errors: those of image.h, file.h and plan.h, ERR_ABORTED by setup->progress;
 * e->problem says which. */
enum err engine_open(struct engine *e, const struct engine_setup *setup);

/* Bytes at the beginning of setup->ram that an open engine takes: another may have the rest. */
size_t engine_bytes(const struct engine *e);

/* Load the weights; then the engine is ready. Errors of stream_load: e->problem. */
enum err engine_load(struct engine *e, const struct engine_setup *setup);

/* Forget all tokens. */
void engine_clear(struct engine *e);

/* Append n tokens to the cache, in chunks; the logits after the last one are in e->logits.
 * ERR_TOO_LONG: the context is full (nothing was appended). ERR_ABORTED: should_stop said so
 * (whole chunks before it stay). Errors of the stream: e->problem. After an error the cache is
 * valid up to e->kv.length, which is less than before where pages on the card were lost, and
 * e->logits is NULL. */
enum err engine_append(struct engine *e, const uint32_t *ids, size_t n, bool (*should_stop)(void *),
                       void *context);

/* The most guesses that one pass takes; 0 where none were asked for. */
uint32_t engine_most_guesses(const struct engine *e);

/* Append one token and run n guesses (at most engine_most_guesses, and within the context) ahead
 * of it in the same pass. They lie in ids[kv.length ...], the token first. The cache, the logits
 * and the hash are then as engine_append of the one token leaves them; errors as there. */
enum err engine_append_guesses(struct engine *e, uint32_t n, bool (*should_stop)(void *),
                               void *context);

/* What comes next is id, which is put behind the cache. True: it was guessed, and
 * engine_take_guess appends it without a pass. False: the other guesses are forgotten. */
bool engine_was_guessed(struct engine *e, uint32_t id);
void engine_take_guess(struct engine *e);

/* Append n tokens and give every position's logits to `visit`: for perplexity and `logits`. */
typedef void engine_visit_fn(void *context, uint32_t position, const float *logits);
enum err engine_append_visit(struct engine *e, const uint32_t *ids, size_t n,
                             engine_visit_fn *visit, void *context);

/* Bytes read for one more token as planned: layers and head. A row of a streamed embedding comes
 * to that, unless it is one of the latest. */
uint64_t engine_planned_bytes(const struct engine *e);

#endif
