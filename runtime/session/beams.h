/* Beam search: the likeliest whole reply among N that are carried along, where sampling decides token by
 * token. The beams are sequences of the session (session_sequence.h), which share keys and values as far as they
 * are the same. */
#ifndef INGOT_RUNTIME_BEAMS_H
#define INGOT_RUNTIME_BEAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/stop.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session_sequence.h"

enum { BEAMS_MOST = 4 };

/* Sequences of a session for n beams: n - 1 beside the current one, and the best that has ended. */
struct beams {
    uint32_t n; /* beams; below 2: there is no search, and no sequence is needed */
    struct session_sequence sequences[BEAMS_MOST];
};

/* The purpose of a search. A member that is NULL is not called. */
struct beams_job {
    void *context;
    bool (*is_end)(void *context, uint32_t id); /* the token ends a reply, and is none of it */
    /* All beams have these n tokens next; the first are at ids. False: the reply ends with the last of
     * them that was taken, of which *taken is the number (n before the call). */
    bool (*settled)(void *context, const uint32_t *ids, uint32_t n, uint32_t *taken);
    uint32_t limit; /* new tokens at most; 0: as many as the context has room for */
    const struct stop *stop;
    /* Its biases and penalties count, and nothing else of it; its reply begins with the first new token. NULL: none. */
    const struct sampler *sampler;
};

enum beams_end { BEAMS_ENDED, BEAMS_LIMIT, BEAMS_CONTEXT, BEAMS_CUT };

struct beams_result {
    enum beams_end end;
    uint32_t passes;
};

/* From a session whose logits are known: search, until no beam could become better than the best that has
 * ended. Score: the mean of the logarithms of the tokens' probabilities, the end's among them. Then the
 * sequence ends with the best reply, its last token pending as after generate(). Equal scores: the older
 * beam, then the lower id. Nothing but + - * / and the kernels, so that every board finds the same.
 * Errors: those of session_run; ERR_ABORTED by the stop; ERR_BAD_MODEL: the logits are not numbers. After
 * one, the sequence ends with what was settled. */
enum err beams_search(struct beams *b, struct session *s, const struct beams_job *job,
                      struct beams_result *r);

/* ln x of a finite x > 0, the same bits everywhere; within 4e-16 of itself, or of 1 near 1. */
double beams_log(double x);

#endif
