/* A request and what came of it so far; and the figures of a reply, as the event `done` of a line has
 * them (docs/SERIAL.md): how fast it came, what the card did, how warm it was. */
#ifndef INGOT_RUNTIME_API_JOB_H
#define INGOT_RUNTIME_API_JOB_H

#include "runtime/api/api_request.h"
#include "runtime/session/generate.h"

enum api_figure {
    API_DECODE_TOKENS_PER_S,
    API_FIRST_TOKEN_MS,
    API_CARD_MB_PER_S, /* of what streams */
    API_STALLED_PERCENT,
    API_TEMPERATURE_C,
    API_CONTEXT_TOKENS, /* taken by the conversation, and how many it has */
    API_CONTEXT_LIMIT_TOKENS,
    API_N_FIGURES
};

/* A value that is not a number is not known. */
struct api_figures {
    double list[API_N_FIGURES];
};

const char *api_figure_name(enum api_figure figure);

/* None is known. */
void api_figures_clear(struct api_figures *f);

/* Append all of them as members of an object; null: not known. */
void api_figures_put(struct api_text *out, const struct api_figures *f);

struct api_job {
    struct api_request request;
    bool done;
    struct api_error error;         /* once done: why there is no reply, or no more of it */
    enum generate_end end;          /* once done without an error */
    struct api_text text, thoughts; /* whole characters */
    struct api_text scores;         /* scores of api_scores.h, if requested */
    struct api_text vectors;        /* API_EMBED: (n_turns, dim) f32 */
    uint32_t prompt_tokens, cached_tokens, reply_tokens;
    uint32_t spent_tokens;      /* tokens of replies before it that were refused and made again */
    struct api_figures figures; /* once done without an error */
    const char *line;           /* constant, of the board that answered; NULL: this machine */
};

#endif
