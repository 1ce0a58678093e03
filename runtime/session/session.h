/* One sequence of tokens over a model: the ids, how many of them are in the layers' states, and the
 * logits after the last token. Only a session writes these counts and cuts the states; all other
 * code asks the session to undo, keep or compute tokens.
 *
 *   0 ............ n_cached ............ n_ids ............ n_ids + n_ahead ....... context
 *   in the states    pending: known,       guesses with states and logits, in case
 *                    not computed yet      they turn out right (n_cached == n_ids then). */
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
    SESSION_TEXT_BYTES = 16384, /* most bytes of text that are tokenized at once: a line with its
                               * template */
    SESSION_HASHED_ROWS = 32,   /* rows of logits that enter the hash */
};

/* FNV-1a 64 of the first SESSION_HASHED_ROWS rows of logits since session_clear. */
struct session_hash {
    bool on; /* true after session_open; set it to false to save time */
    uint32_t rows;
    uint64_t value;
};

/* Work space that the tokenizer and the sampler use alternately. */
struct session_scratch {
    void *memory; /* 64-byte aligned; NULL for a draft */
    size_t bytes;
};

struct session {
    struct model *model;
    struct lora *lora;          /* the session's adapters; NULL: the model's adapters, if any */
    struct layer_state *states; /* (n_states), see layer_kinds.h */
    uint32_t n_states;
    struct kv_cache kv;    /* keys and values of the attention layers */
    struct kv_pages pages; /* the pages to which keys and values spill */

    uint32_t *ids; /* (context) */
    uint32_t context;
    uint32_t n_cached;
    uint32_t n_ids;
    uint32_t n_ahead;
    uint32_t long_context; /* LongRoPE's limit (session_rope.h); 0: the model does not use
                            * LongRoPE */
    bool is_long;          /* the keys in the states have LongRoPE's long factors */
    uint32_t n_exact; /* the states of this many tokens depend only on their ids (session_drop) */
    float *logits;    /* (vocab) logits after the last token, if all are cached; NULL: not known */
    struct session_prefix *prefix;        /* NULL: no prefix is kept */
    const struct session_watch *watch;    /* see session_watch.h; NULL: none */
    const struct session_watch *follower; /* code that needs the hidden states of all tokens; NULL:
                                           * none */

    struct session_hash hash;
    struct session_scratch scratch;
    char error_message[SESSION_ERROR_MESSAGE_BYTES]; /* after an error: the message for the user */
};

/* Bytes of ARENA_SCRATCH that a session needs in addition to its ids, for model_setup. A draft
 * needs no work space for tokenizer and sampler. */
size_t session_bytes(const struct image *image);
size_t session_draft_bytes(const struct image *image);

/* Open an empty sequence over a loaded model, in the arena that the model planned; `setup` is the
 * setup with which the model was opened. A model can have as many sessions as setup->sequences
 * (session_group.h). m and setup->kv_file must outlive s. */
void session_open(struct session *s, struct model *m, const struct model_setup *setup);

/* Drop all tokens; the states keep a prefix. */
void session_clear(struct session *s);

/* Call when the model's weights change (adapters): all tokens become pending, and no prefix is
 * kept. */
void session_weights_changed(struct session *s);

/* Return a CRC of the model and of the adapters in use on it: a state depends on both. */
uint32_t session_model_crc(const struct session *s);

/* Add n tokens to the end; they are pending. ids may be in s->ids at or after the end, where
 * session_room points. ERR_TOO_LONG: the tokens do not fit the context; nothing was added. */
enum err session_put(struct session *s, const uint32_t *ids, size_t n);

/* Return the place for tokens of session_put, and how many fit. */
uint32_t *session_room(struct session *s, uint32_t *n);

/* Compute the pending tokens, in chunks; s->logits are the logits after the last token.
 * ERR_BAD_ARGUMENT: nothing is pending, and the sequence is empty. ERR_ABORTED: `stop` (may be
 * NULL) was set between two layers. Errors of the stream and of the states. After an error,
 * s->error_message describes it, s->logits is NULL, completed chunks are cached, and the rest is
 * still pending; fewer tokens than before may be cached, if pages on the card were lost. */
enum err session_run(struct session *s, const struct stop *stop);

/* Call session_put, then session_run. */
enum err session_append(struct session *s, const uint32_t *ids, size_t n, const struct stop *stop);

/* Cut the sequence after its first n tokens; a shorter sequence does not change. Returns how many
 * of these tokens are cached. The other tokens are pending, because some states can only go back to
 * a mark. */
uint32_t session_cut(struct session *s, uint32_t n);

/* For session_prefix.c: cut only the states, to n tokens or fewer. The tokens that are left are
 * cached. */
uint32_t session_cut_states(struct session *s, uint32_t n);

/* Drop guesses from the states, because they do not belong to the sequence; n_cached may become
 * less. */
void session_forget_guesses(struct session *s);

/* A turn begins: later cuts can return to this point without computing tokens again. */
void session_mark(struct session *s);

/* Works like session_run, but computes n guesses (at most model_most_guesses, and within the
 * context) in the same pass. The guesses are at session_room(). Afterwards the sequence, the logits
 * and the hash are as after session_run. Errors: those of session_run. */
enum err session_run_guesses(struct session *s, uint32_t n, const struct stop *stop);

/* Add id, as session_put does. Return true if id is the next guess, which was computed in an
 * earlier pass: call session_take_guess instead of session_run. If false, all guesses are
 * dropped. */
bool session_put_next(struct session *s, uint32_t id);
void session_take_guess(struct session *s);

/* Works like session_append, but passes the logits of every position to `visit`. Perplexity and
 * `ingot logits` use this. */
typedef void session_visit_fn(void *context, uint32_t position, const float *logits);
enum err session_append_visit(struct session *s, const uint32_t *ids, size_t n,
                              session_visit_fn *visit, void *context);

/* Compute the mean of the hidden states after the last norm, over the n >= 1 tokens at
 * session_room(). The tokens are computed as if no tokens came before them. *mean (dim) is valid
 * until the session is used again. The sequence stays, with all its tokens pending, even after an
 * error. Errors: those of session_run. */
enum err session_embed(struct session *s, uint32_t n, const struct stop *stop, const float **mean);

/* ---- saving and loading ---- */

/* Bytes that session_move moves for n_ids tokens of which n_cached are cached; no states if
 * n_cached is 0. */
uint64_t session_move_bytes(const struct session *s, uint32_t n_ids, uint32_t n_cached);

/* Move n_ids tokens and the states of the first n_cached through io. A save has all tokens of the
 * session. The states must have no guesses, and session_rope.h must have settled the factors. With
 * io->loads, the session is empty until session_restore. Errors of io->move and of the states;
 * s->error_message is empty if the error comes from io->move. */
enum err session_move(struct session *s, uint32_t n_ids, uint32_t n_cached,
                      const struct layer_state_io *io);

/* Make the loaded tokens and states the sequence. ERR_BAD_MODEL: an id is not in the model's
 * vocabulary; the sequence is then empty. */
enum err session_restore(struct session *s, uint32_t n_ids, uint32_t n_cached);

/* After a failed load: restore the previous sequence and the hash of its logits; its states are
 * lost, so all n tokens are pending. n <= s->context; ids must not be in s->ids. */
void session_take_back(struct session *s, const uint32_t *ids, uint32_t n,
                       const struct session_hash *hash);

#endif
