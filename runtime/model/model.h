/* A model: opened from a file, planned into the arena, its weights loaded or streaming. Once loaded
 * it is constant but for the work space and the transfers of the current pass. A sequence of tokens
 * is a session (runtime/session/session.h). */
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
    MODEL_MOST_GUESSES = 8, /* tokens that one pass may run ahead */
    MODEL_LEARN_ROWS = 4,   /* logits that are practised together: less than the guesses' */
    MODEL_DRAFT_CHUNK = 32, /* prompt tokens that pass a draft together */
};

enum model_guesses { MODEL_NO_GUESSES, MODEL_GUESSES_IF_STREAMED, MODEL_GUESSES };

struct model_setup {
    struct memory_range ram; /* the arena */
    const struct file *file; /* outlives the model; a core may leave for the device of an io_core */
    struct workers *workers; /* started */
    const struct kernels *kernels;
    const struct signing *signing; /* that the file must be signed by; NULL: any will do */
    struct plan_limits limits;
    const struct file *kv_file;   /* for what spills; it takes writes. NULL: only planned */
    bool experts_ahead;           /* look for those of the next layer */
    uint32_t pins;                /* of a layer's experts */
    const struct file *use_file;  /* how its experts were used (expert_use.h); NULL: none */
    struct plan_rates rates;      /* of the machine, where they are known */
    bool calibrate;               /* measure them, for the plan; never for a draft */
    enum model_guesses guesses;   /* whether room for logits ahead is planned */
    stream_progress_fn *progress; /* of opening and loading; or NULL */
    void *progress_context;
    /* How much a session takes of ARENA_SCRATCH beside its ids. */
    size_t (*sequence_bytes)(const struct image *image);
    uint32_t kept_sequences; /* sequences kept beside it (session_sequence.h): so many, ... */
    size_t line_bytes;
    uint64_t (*kept_bytes)(uint32_t context, uint32_t kept_sequences); /* as in struct plan_work */
    /* How much of ARENA_LEARN is taken from a model that is loaded; NULL: nothing. */
    size_t (*learn_bytes)(void *context, const struct image *image);
    void *learn_context;
    uint32_t sequences; /* sessions that are computed side by side; 0: one */
    bool draft;         /* whole in memory, no text of its own, a short chunk; a context
                 * beyond the model's is cut */
};

struct model {
    struct arena arena;
    const struct file *file;
    const struct kernels *kernels;
    struct image image;
    struct signature signature; /* of setup->signing */
    struct tokenizer tokenizer;
    struct plan_request request;  /* that the plan answers */
    struct plan_rates lent_rates; /* of request.rates.lent */
    bool measured_late;           /* the plan has rates since the weights are loaded */
    struct plan_use used;         /* of request.use */
    struct expert_use use;        /* of the transfer that a plan or /save waits for */
    enum err use_error;           /* of setup->use_file; its error message is use.error_message */
    struct plan plan;
    struct stream stream;
    struct transformer transformer;
    struct io_core *io_core; /* it serves the card in passes for which the plan lends a core; or
                              * NULL */
    char error_message
        [MODEL_ERROR_MESSAGE_BYTES]; /* after an error: an error message for the user */
};

/* Read and check the header and tables, and plan. Nothing else is read yet, so that the plan can
 * be shown first. Errors: those of image.h, file.h and plan.h, ERR_NOT_SIGNED before the tables are read, ERR_ABORTED by setup->progress;
 * m->error_message says which. */
enum err model_open(struct model *m, const struct model_setup *setup);

/* Bytes at the beginning of setup->ram that an open model takes, its session's included: another
 * may have the rest. */
size_t model_bytes(const struct model *m);

/* Load the weights; then a session may be opened. Errors of stream_load: m->error_message. */
enum err model_load(struct model *m, const struct model_setup *setup);

/* Call it before a pass over n tokens: the plan decides whether the last core computes or moves
 * the card's data. */
void model_lend_core(struct model *m, uint32_t n);

/* The most guesses that one pass takes; 0 where none were asked for. */
uint32_t model_most_guesses(const struct model *m);

/* Bytes read for one more token as planned: layers and head. A row of a streamed embedding is
 * read in addition, unless it is one of the latest. */
uint64_t model_planned_bytes(const struct model *m);

#endif
