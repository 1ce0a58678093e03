/* Generates a reply from a prompt, and passes tokens and text to a sink. This code neither
 * prints nor reads input; params->stop ends a run from outside. */
#ifndef INGOT_RUNTIME_GENERATE_H
#define INGOT_RUNTIME_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/base/stop.h"
#include "runtime/session/beams.h"
#include "runtime/session/constraint.h"
#include "runtime/session/reply_text.h"
#include "runtime/session/sampler.h"
#include "runtime/session/session.h"
#include "runtime/session/speculative.h"
#include "runtime/session/token_scores.h"

/* The parts of a generator: all open, all for one session. */
struct generator {
    struct session *session;
    struct speculative *speculative;
    struct sampler *sampler;
    struct beams
        *beams; /* NULL, or n < 2: tokens are sampled. Otherwise a beam search runs, with only the
                * sampler's biases and penalties, and no tokens are guessed */
};

struct generate_params {
    uint32_t limit;           /* most new tokens; 0: no limit, but repetition ends the reply */
    struct reply_stops stops; /* strings that end the reply */
    const uint32_t *end_ids;  /* (n_end_ids) tokens that end the reply, in addition to the
                               * vocabulary's BOS */
    uint32_t n_end_ids;
    bool whole;                    /* for measurements: no token ends the reply, not even BOS */
    bool inside_thoughts;          /* the prompt ends with the mark that opens thoughts */
    struct constraint *constraint; /* constrains the answer; NULL: none. Not with beams */
    bool wants_scores;             /* the sink gets each token's scores */
    uint32_t n_likeliest; /* also for this many of the likeliest tokens, up to TOKEN_SCORES_MOST.
                           * Not with beams */
    const struct stop *prompt_stop; /* asked before each layer of the prompt; NULL: never */
    const struct stop *stop;        /* asked before each layer of the reply, and after each token */
};

/* Receives a reply. A function that is NULL is not called; `text` may not be NULL. */
struct generate_sink {
    void *context;
    /* Called when the prompt is computed, before the reply's first token. */
    void (*begin)(void *context);
    /* Called for each token; INGOT_NO_TOKEN means text that was held back at the end. Next comes
     * the token's text, which may be empty, or complete a character of earlier tokens; then
     * token_end. */
    void (*token_begin)(void *context, uint32_t id);
    void (*token_end)(void *context);
    void (*text)(void *context, const char *text, size_t bytes); /* whole UTF-8 characters */
    void (*think)(void *context,
                  bool begins); /* the next text belongs to thoughts if `begins`, otherwise to the
                                 * answer */
    /* The context is full. Cut the session, put the tokens that stay, and compute them, so that the
     * reply can continue; *first_new is where the rest of the reply begins.
     * ERR_NO_SPACE, which means that there is nothing to drop, and other errors end the reply. */
    enum err (*make_room)(void *context, uint32_t *first_new);
    /* The scores of the token that comes with the next token_begin. */
    void (*scores)(void *context, const struct token_scores *scores);
};

enum generate_end {
    GENERATE_ENDED,      /* the model ended the reply */
    GENERATE_LIMIT,      /* params->limit */
    GENERATE_STOP,       /* a stop string came */
    GENERATE_CONTEXT,    /* the context is full */
    GENERATE_REPETITION, /* the reply repeats itself */
    GENERATE_NO_WAY_ON,  /* no token is allowed by the constraint */
};

struct generate_result {
    enum generate_end end;  /* valid if ERR_OK was returned */
    uint32_t first_new;     /* index of the first new token in the session's ids */
    uint32_t prompt_tokens; /* computed tokens of the prompt, including the template's */
    uint32_t new_tokens;
    uint64_t start, first, last;   /* ticks when the prompt began, at the first token and at the
                                    * last token; first is 0 if no token came */
    struct stream_stats before;    /* the stream's counters at `start` */
    uint32_t passes;               /* decode passes, each of which reads the planned bytes */
    uint64_t decode_bytes;         /* bytes streamed by the decode passes */
    uint64_t decode_expert_stalls; /* experts for which the decode passes waited */
    bool speculates;
    uint32_t guessed, right; /* guessed tokens in passes, and how many of them were right */
    uint32_t refused;        /* tokens that the constraint refused */
    uint32_t stop;           /* after GENERATE_STOP: index of the stop string */
    uint64_t text_bytes,
        shown; /* after GENERATE_STOP: bytes of all tokens' text, and bytes before the stop
                * string */
};

/* Compute the pending tokens of the session. Then, until the reply ends, sample a token, pass it to
 * the sink and compute it. The last token stays pending, which saves a pass. Errors: those of
 * session_run (session->error_message), ERR_ABORTED by a stop, ERR_BAD_MODEL: the logits are not
 * numbers. *r is filled even after an error. */
enum err generate(const struct generator *g, const struct generate_params *params,
                  const struct generate_sink *sink, struct generate_result *r);

/* After GENERATE_STOP, make the sequence end with the shown text. Tokens before the stop string
 * stay. If the string begins inside a token, the part before it is tokenized again. */
void generate_keep_shown(struct session *s, const struct generate_result *r);

#endif
