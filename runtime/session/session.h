/* One sequence of tokens over a model: the ids, how many of them are in the layers' states, and the
 * logits after the last. A session alone writes these counts and cuts the states; all other code
 * calls it to undo, keep or compute tokens.
 *
 *   0 ............ n_cached ............ n_ids ............ n_ids + n_ahead ....... context
 *   in the states    pending: known,       guesses whose states and logits are there, should
 *                    not computed yet      they turn out right (n_cached == n_ids then) */
#ifndef INGOT_RUNTIME_SESSION_H
#define INGOT_RUNTIME_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/stop.h"
#include "runtime/compute/kv_cache.h"
#include "runtime/model/layer_state.h"
#include "runtime/model/model.h"
#include "runtime/session/session_prefix.h"
#include "runtime/session/session_watch.h"
#include "runtime/stream/kv_pages.h"

enum {
    SESSION_ERROR_MESSAGE_BYTES = 400,
    SESSION_TEXT_BYTES =
        16384,                /* longest text that is tokenized at once: a line with its template */
    SESSION_HASHED_ROWS = 32, /* positions whose logits enter the hash */
};

/* FNV-1a 64 of the first SESSION_HASHED_ROWS rows of logits since session_clear. */
struct session_hash {
    bool on; /* true from session_open on; false saves the time */
    uint32_t rows;
    uint64_t value;
};

/* Work space that the tokenizer and the sampler take in turn. */
struct session_scratch {
    void *memory; /* 64-byte aligned; NULL: a draft has none */
    size_t bytes;
};

struct session {
    struct model *model;
    struct lora *lora;          /* its adapters; NULL: those of the model, if there are any */
    struct layer_state *states; /* (n_states), see layer_kinds.h */
    uint32_t n_states;
    struct kv_cache kv;    /* of the attention layers' states ... */
    struct kv_pages pages; /* ... and where they spill */

    uint32_t *ids; /* (context) */
    uint32_t context;
    uint32_t n_cached;
    uint32_t n_ids;
    uint32_t n_ahead;
    uint32_t long_context; /* of LongRoPE (session_rope.h); 0: the model has none */
    bool is_long;          /* the states' keys have its long factors */
    uint32_t
        n_exact;   /* the states of so many tokens are what their ids alone give (session_drop) */
    float *logits; /* (vocab) after the last token, all being cached; NULL: not known */
    struct session_prefix *prefix;     /* NULL: none is kept */
    const struct session_watch *watch; /* NULL: nobody */

    struct session_hash hash;
    struct session_scratch scratch;
    char error_message
        [SESSION_ERROR_MESSAGE_BYTES]; /* after an error: an error message for the user */
};

/* How much a session takes of ARENA_SCRATCH beside its ids, for model_setup. A draft needs no
 * work space for tokenizer and sampler. */
size_t session_bytes(const struct image *image);
size_t session_draft_bytes(const struct image *image);

/* An empty sequence over a loaded model, in the arena that the model planned; setup: the
 * model's. As many sessions a model as setup->sequences (session_group.h). Both must outlive s. */
void session_open(struct session *s, struct model *m, const struct model_setup *setup);

/* Forget all tokens; but the states keep a prefix. */
void session_clear(struct session *s);

/* The model computes with other weights from now on (adapters): all tokens are pending, and none are
 * kept as a prefix. */
void session_weights_changed(struct session *s);

/* For the model, and of what is at work on it: a state belongs to it. */
uint32_t session_model_crc(const struct session *s);

/* Add n tokens to the end; they are pending. ids may lie in s->ids at or after the end, where
 * session_room points to. ERR_TOO_LONG: the context has no room; nothing was added. */
enum err session_put(struct session *s, const uint32_t *ids, size_t n);

/* A place for tokens that session_put will add, and how many fit. */
uint32_t *session_room(struct session *s, uint32_t *n);

/* Compute the pending tokens, in chunks; s->logits are those after the last token.
 * ERR_BAD_ARGUMENT: nothing is pending, and the sequence is empty. ERR_ABORTED: `stop` (may be
 * NULL) was asked for between two layers. Errors of the stream and of the states. After an
 * error, s->error_message says which, s->logits is NULL, whole chunks before it are cached and the
 * rest is still pending; fewer tokens than before may be cached, where pages on the card were
 * lost. */
enum err session_run(struct session *s, const struct stop *stop);

/* session_put and session_run. */
enum err session_append(struct session *s, const uint32_t *ids, size_t n, const struct stop *stop);

/* End the sequence after its first n tokens; a shorter one stays as it is. Returns how many of
 * them are cached: the others are pending, as some states can only go back to a mark. */
uint32_t session_cut(struct session *s, uint32_t n);

/* For session_prefix.c: the states alone go back to n tokens or fewer, which are then cached. */
uint32_t session_cut_states(struct session *s, uint32_t n);

/* Guesses that are in the states do not belong to the sequence: without them, n_cached may be less. */
void session_forget_guesses(struct session *s);

/* A turn begins: later cuts can come back to this point without computing tokens again. */
void session_mark(struct session *s);

/* session_run of the pending tokens with n guesses (at most model_most_guesses, and within the
 * context) in the same pass. They lie at session_room(). The sequence, the logits and the hash
 * are then as session_run leaves them; errors as there. */
enum err session_run_guesses(struct session *s, uint32_t n, const struct stop *stop);

/* Add id, as session_put. True: it is the next guess, and session_take_guess computes it without
 * a pass. False: the other guesses are forgotten. */
bool session_put_next(struct session *s, uint32_t id);
void session_take_guess(struct session *s);

/* session_append of n tokens that gives every position's logits to `visit`: for perplexity and
 * `ingot logits`. */
typedef void session_visit_fn(void *context, uint32_t position, const float *logits);
enum err session_append_visit(struct session *s, const uint32_t *ids, size_t n,
                              session_visit_fn *visit, void *context);

/* The mean of the last hidden states, after the last norm, of n >= 1 tokens that stand at session_room(), as if
 * nothing stood before them. *mean (dim) is valid until the session is used again. The sequence stays, with
 * all its tokens pending. Errors as session_run, and the sequence stays then too. */
enum err session_embed(struct session *s, uint32_t n, const struct stop *stop, const float **mean);

/* ---- saved and loaded ---- */

/* Bytes that session_move moves, of n_ids tokens of which n_cached are cached; without a cached one none of the states. */
uint64_t session_move_bytes(const struct session *s, uint32_t n_ids, uint32_t n_cached);

/* No guesses may be in the states, and what is saved is settled (session_rope.h). Move n_ids tokens and the states of the first n_cached through io: all of the session, when it
 * is saved. io->loads: the session is empty until session_restore. Errors of io->move and of the
 * states; s->error_message is empty where it is io's own. */
enum err session_move(struct session *s, uint32_t n_ids, uint32_t n_cached,
                      const struct layer_state_io *io);

/* The loaded tokens and states become the sequence. ERR_BAD_MODEL: an id is not in the model's
 * vocabulary; then it is empty. */
enum err session_restore(struct session *s, uint32_t n_ids, uint32_t n_cached);

/* After a load that failed: the sequence that was there before, with the hash of its logits, whose
 * states are lost: all n tokens are pending. n <= s->context; ids may not lie in s->ids. */
void session_take_back(struct session *s, const uint32_t *ids, uint32_t n,
                       const struct session_hash *hash);

#endif
