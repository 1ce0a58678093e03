/* Beam search: finds the most likely whole reply by extending N candidates; sampling instead
 * decides token by token. The beams are sequences of the session (session_sequence.h), which share
 * keys and values as far as they are equal. */
#ifndef INGOT_RUNTIME_BEAMS_H
#define INGOT_RUNTIME_BEAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/stop.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_sequence.h"

enum { BEAMS_MOST = 4 };

/* Sequences of a session for n beams: n - 1 in addition to the current sequence, and one for the
 * best reply that has ended. */
struct beams {
    uint32_t n; /* number of beams; below 2, nothing is searched */
    struct session_sequence sequences[BEAMS_MOST];
};

/* The parameters of a search. A function that is NULL is not called. */
struct beams_job {
    void *context;
    bool (*is_end)(void *context, uint32_t id); /* return true if the token ends a reply without
                                                 * being part of it */
    /* All beams continue with these n tokens. Return false if the reply ends with the last token
     * that was taken; *taken is the number of taken tokens (n before the call). */
    bool (*settled)(void *context, const uint32_t *ids, uint32_t n, uint32_t *taken);
    uint32_t limit; /* most new tokens; 0: as many as fit the context */
    const struct stop *stop;
    /* Only the sampler's biases and penalties are used; sampler->reply is the first new token.
     * NULL: none. */
    const struct sampler *sampler;
};

enum beams_end { BEAMS_ENDED, BEAMS_LIMIT, BEAMS_CONTEXT, BEAMS_CUT };

struct beams_result {
    enum beams_end end;
    uint32_t passes;
};

/* Search from a session whose logits are known, until no beam can become better than the best reply
 * that has ended. A reply's score is the mean of the logarithms of its tokens' probabilities,
 * including the token that ends it. Afterwards the sequence ends with the best reply, its last
 * token pending as after generate(). If scores are equal, the older beam wins, then the lower id.
 * Uses only + - * / and the kernels, so that every board finds the same reply. Errors: those of
 * session_run; ERR_ABORTED by the stop; ERR_BAD_MODEL: the logits are not numbers. After an error
 * the sequence ends with the tokens passed to `settled`. */
enum err beams_search(struct beams *b, struct session *s, const struct beams_job *job,
                      struct beams_result *r);

/* Return ln x of a finite x > 0, with the same bits on every machine. The error is 4e-16: relative,
 * but absolute near x = 1. */
double beams_log(double x);

#endif
