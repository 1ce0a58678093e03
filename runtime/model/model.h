/* A model: opened from a file, planned into the arena, with its weights loaded or streaming.
 * Once loaded it is constant, except for the work space and the transfers of the current pass. A
 * sequence of tokens is a session (runtime/session/session.h). */
#ifndef INGOT_RUNTIME_MODEL_H
#define INGOT_RUNTIME_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/machine.h"
#include "board/err.h"
#include "kernels/kernels.h"
#include "runtime/base/arena.h"
#include "runtime/compute/workers.h"
#include "runtime/image/image.h"
#include "runtime/image/signing.h"
#include "runtime/model/transformer.h"
#include "runtime/storage/file.h"
#include "runtime/storage/io_core.h"
#include "runtime/stream/expert_use.h"
#include "runtime/stream/plan.h"
#include "runtime/stream/stream.h"
#include "runtime/tokenizer/tokenizer.h"

enum {
    MODEL_ERROR_MESSAGE_BYTES = 400,
    MODEL_MOST_GUESSES = 8, /* the most guessed tokens in one pass */
    MODEL_LEARN_ROWS = 4,   /* rows of logits in a step of practice; guessed tokens need more */
    MODEL_DRAFT_CHUNK = 32, /* the most prompt tokens that a draft computes in one pass */
};

enum model_guesses { MODEL_NO_GUESSES, MODEL_GUESSES_IF_STREAMED, MODEL_GUESSES };

struct model_setup {
    struct memory_range ram; /* the arena */
    size_t taken_bytes;      /* memory in use outside the arena, for messages */
    const struct file *file; /* outlives the model; if an io_core can serve the file's device, a
                              * core may stop being a worker and serve the device */
    struct workers *workers; /* started */
    const struct kernels *kernels;
    const struct signing *signing; /* key with which the file must be signed, or NULL if no
                                    * signature is needed */
    struct plan_limits limits;
    const struct file *kv_file;   /* writable file for keys and values that spill; not needed for
                                   * planning */
    bool experts_ahead;           /* predict and request the experts of the next layer */
    uint32_t pins;                /* number of slots for a layer's experts */
    const struct file *use_file;  /* counts of the model's experts (expert_use.h), or NULL */
    struct plan_rates rates;      /* rates of the machine, if they are known */
    bool calibrate;               /* measure the rates for the plan, except for a draft */
    enum model_guesses guesses;   /* whether the plan has room for the logits of guessed tokens */
    stream_progress_fn *progress; /* called while opening and loading; may be NULL */
    void *progress_context;
    /* Returns the bytes of ARENA_SCRATCH that a session needs besides its ids. */
    size_t (*sequence_bytes)(const struct image *image);
    uint32_t kept_sequences; /* number of sequences kept besides the current one
                              * (session_sequence.h) */
    size_t line_bytes;
    uint64_t (*kept_bytes)(uint32_t context, uint32_t kept_sequences); /* as in struct plan_work */
    /* Returns the bytes of ARENA_LEARN that features need. NULL means 0. */
    size_t (*learn_bytes)(void *context, const struct image *image);
    void *learn_context;
    uint32_t sequences;       /* number of sessions computed in parallel; 0 means one */
    uint32_t spare_sequences; /* add up to this many sessions, if they leave nearly as much memory
                               * for weights */
    bool draft;               /* the model is a draft: all in memory, without texts of its own, with
                               * a short chunk, and with at most the context of the model for which
                               * it guesses */
};

struct model {
    struct arena arena;
    const struct file *file;
    const struct kernels *kernels;
    struct image image;
    struct signature signature; /* read if setup->signing is set */
    struct tokenizer tokenizer;
    struct plan_request request;  /* the request for which the plan was made */
    struct plan_rates lent_rates; /* request.rates.lent points to these rates */
    bool measured_late;           /* the rates were measured after loading */
    struct plan_use used;         /* request.use points to this */
    struct expert_use use;        /* reads or writes counts for a plan or /save */
    enum err use_error;           /* result of reading setup->use_file; the message is
                                   * use.error_message */
    struct plan plan;
    struct stream stream;
    struct transformer transformer;
    struct io_core *io_core; /* serves the card in passes for which the plan lends a core, or
                              * NULL */
    char error_message[MODEL_ERROR_MESSAGE_BYTES]; /* message for the user after an error */
};

/* Read and check the header and tables, and make the plan. Nothing else is read yet, so the plan
 * can be shown first. Errors: those of image.h, file.h and plan.h, ERR_NOT_SIGNED before the tables
 * are read, ERR_ABORTED by setup->progress. m->error_message is set. */
enum err model_open(struct model *m, const struct model_setup *setup);

/* Return how many bytes at the beginning of setup->ram an open model and its session take. Another
 * model may use the rest of setup->ram. */
size_t model_bytes(const struct model *m);

/* Make a plan with streamed weights again, with room for the logits of guessed tokens; if that would
 * make the chunk shorter, without. *r is the request of the plan. Errors: those of plan_make. */
enum err model_plan_guesses(struct plan *plan, struct plan_request *r);

/* Load the weights. Then a session may be opened. Errors of stream_load, with m->error_message. */
enum err model_load(struct model *m, const struct model_setup *setup);

/* Call before a pass over n tokens. The plan decides whether the last core computes or moves the
 * card's data. */
void model_lend_core(struct model *m, uint32_t n);

/* Return the most guesses in one pass, or 0 if none were requested. */
uint32_t model_most_guesses(const struct model *m);

/* Return the bytes of layers and head that the plan reads for one more token. A row of a streamed
 * embedding is read in addition, unless it is one of the latest rows. */
uint64_t model_planned_bytes(const struct model *m);

#endif
