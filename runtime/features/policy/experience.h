/* A conversation's experience of its turns: patterns of questions, and a policy that learns from
 * the results of the answers. A turn is seen (experience_see), gets a choice, ends, and is judged
 * when the next turn begins. Until then somebody may rate it good or bad, or take it back. The chat
 * owns the experience. */
#ifndef INGOT_RUNTIME_EXPERIENCE_H
#define INGOT_RUNTIME_EXPERIENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/features/policy/patterns.h"
#include "runtime/features/policy/policy.h"

enum { EXPERIENCE_TURNS = 64 /* latest turns, with which the policy practises */ };

/* Facts before a turn. */
struct experience_question {
    const char *text; /* (bytes) */
    size_t bytes;
    uint32_t tokens;
    uint32_t turns;   /* turns of the conversation before the turn */
    float pressure;   /* as in struct policy_state */
    float throughput; /* the same */
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
    bool is_open; /* a turn with a choice is not judged yet: */
    bool ended;
    struct trajectory open;
    struct turn_signs signs;
    float *key; /* (dim) direction of the sum; zeros: none */
    float near; /* the highest cosine found for the question */
    float went; /* the quality of the patterns that were found */
};

/* Open an empty experience. memory: experience_bytes(), aligned for floats. */
size_t experience_bytes(uint32_t dim);
void experience_open(struct experience *e, void *memory, uint32_t dim);

/* A conversation begins. */
void experience_begin(struct experience *e);

/* A question begins with the token at this position. */
void experience_watch(struct experience *e, uint32_t from);
/* Take the last hidden state (dim) of a token, normed. The states of a question give its
 * direction. */
void experience_see(struct experience *e, uint32_t position, const float *hidden);

/* The policy's choice for the question that was seen. First judges the previous turn. */
void experience_choose(struct experience *e, const struct experience_question *q,
                       struct policy_choice *choice);
/* Record the action that is carried out: the policy's choice, unless somebody else chose. */
void experience_took(struct experience *e, const uint8_t choice[POLICY_HEADS]);

/* The reply has ended: by itself, or with a repetition. */
void experience_ended(struct experience *e, bool by_itself, bool repeated);
/* The current turn failed and is not judged. */
void experience_forget(struct experience *e);

/* Rate the latest turn. Returns false if there is none, or if it is judged already. */
bool experience_rate(struct experience *e, bool good);
bool experience_undone(struct experience *e);

/* Judge the latest turn, if one is open: adds a pattern and a trajectory, and lets the policy
 * learn. */
void experience_settle(struct experience *e);

/* ---- saving --------------------------------------------------------------------------------- */

/* Bytes that experience_move moves for this many patterns. */
uint64_t experience_move_bytes(const struct experience *e, uint32_t n_patterns);

/* Writes memory to a file, or fills it from a file. */
typedef enum err experience_move_fn(void *context, void *memory, size_t bytes);

/* As lessons_move: loaded data are not trusted before experience_is_sound. ERR_BAD_MODEL:
 * impossible counts. No turn is open afterwards. */
enum err experience_move(struct experience *e, bool loads, experience_move_fn *move, void *context);
bool experience_is_sound(const struct experience *e);

/* Forget all of it. */
void experience_clear(struct experience *e);

#endif
