/* A conversation's experience of its turns: patterns of questions, and a policy that learns from
 * the results of the answers. A turn is seen (experience_see), gets a choice, ends, and is judged
 * when the next turn begins. Until then a person may rate the turn good or bad, or take it back.
 * The chat owns the experience. */
#ifndef INGOT_RUNTIME_EXPERIENCE_H
#define INGOT_RUNTIME_EXPERIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/policy/patterns.h"
#include "runtime/features/policy/policy.h"

enum { EXPERIENCE_TURNS = 64 /* number of latest turns with which the policy practises */ };

/* Facts before a turn. */
struct experience_question {
    const char *text; /* (bytes) */
    size_t bytes;
    uint32_t tokens;
    uint32_t turns;   /* number of earlier turns in the conversation */
    float pressure;   /* as in struct policy_state */
    float throughput; /* as in struct policy_state */
};

struct experience_totals {
    uint32_t turns, good, bad, undone;
    uint32_t steps, thrown; /* steps of the policy, and dropped steps */
    float quality;          /* sum of the quality of all turns */
    float last;             /* quality of the latest turn */
};

struct experience {
    struct patterns patterns;
    struct policy policy;
    struct experience_totals totals;
    struct trajectory *turns; /* (EXPERIENCE_TURNS), a ring */
    uint32_t n, next;
    float *sum; /* (dim) sum of the hidden states of a question */
    uint32_t n_seen, from;
    bool is_open; /* a turn with a choice is not judged yet */
    bool ended;
    struct trajectory open;
    struct turn_signs signs;
    float *key; /* (dim) direction of `sum`, or zeros */
    float near; /* the highest cosine found for the question */
    float went; /* mean quality of the patterns that were found */
};

/* Open an empty experience. `memory` is experience_bytes(), aligned for floats. */
size_t experience_bytes(uint32_t dim);
void experience_open(struct experience *e, void *memory, uint32_t dim);

/* Call when a conversation begins. */
void experience_begin(struct experience *e);

/* Call before a question whose first token is at this position. */
void experience_watch(struct experience *e, uint32_t from);
/* Take the last hidden state (dim) of a token, normed. A question's states give the question's
 * direction. */
void experience_see(struct experience *e, uint32_t position, const float *hidden);

/* Judge the previous turn, then get the policy's choice for the question that was seen. */
void experience_choose(struct experience *e, const struct experience_question *q,
                       struct policy_choice *choice);
/* Record the choice that applies. Something else may have overridden the policy's choice. */
void experience_took(struct experience *e, const uint8_t choice[POLICY_HEADS]);

/* Call when the reply has ended. by_itself: not at a limit; repeated: the reply repeats itself. */
void experience_ended(struct experience *e, bool by_itself, bool repeated);
/* Call if the current turn failed. A failed turn is not judged. */
void experience_forget(struct experience *e);

/* Rate the latest turn. Returns false if there is no turn, or if the turn was judged before. */
bool experience_rate(struct experience *e, bool good);
bool experience_undone(struct experience *e);

/* Judge the latest turn if it is open. The turn adds a pattern and a trajectory, and the policy
 * learns. */
void experience_settle(struct experience *e);

/* ---- saving --------------------------------------------------------------------------------- */

/* Bytes that experience_move moves for this many patterns. */
uint64_t experience_move_bytes(const struct experience *e, uint32_t n_patterns);

/* Writes memory to a file, or fills it from a file. */
typedef enum err experience_move_fn(void *context, void *memory, size_t bytes);

/* Works like lessons_move. Trust loaded data only after experience_is_sound. ERR_BAD_MODEL:
 * impossible counts. No turn is open afterwards. */
enum err experience_move(struct experience *e, bool loads, experience_move_fn *move, void *context);
bool experience_is_sound(const struct experience *e);

/* Forget the whole experience. */
void experience_clear(struct experience *e);

#endif
