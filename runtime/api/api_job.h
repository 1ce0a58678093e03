/* A request with its result so far, and the figures of a reply: its speed, the card's work, the
 * temperature. A line's event `done` has the same figures (docs/SERIAL.md). */
#ifndef INGOT_RUNTIME_API_JOB_H
#define INGOT_RUNTIME_API_JOB_H

#include "runtime/api/api_request.h"
#include "runtime/session/generate.h"

enum api_figure {
    API_DECODE_TOKENS_PER_S,
    API_FIRST_TOKEN_MS,
    API_CARD_MB_PER_S, /* of the weights that are streamed */
    API_STALLED_PERCENT,
    API_TEMPERATURE_C,
    API_CONTEXT_TOKENS, /* tokens that the conversation has taken, and its limit */
    API_CONTEXT_LIMIT_TOKENS,
    API_N_FIGURES
};

/* A value that is NaN is not known. */
struct api_figures {
    double list[API_N_FIGURES];
};

const char *api_figure_name(enum api_figure figure);

/* Mark all figures as not known. */
void api_figures_clear(struct api_figures *f);

/* Append all figures as members of an object; those that are not known are null. */
void api_figures_put(struct api_text *out, const struct api_figures *f);

struct api_job {
    struct api_request request;
    bool done;
    struct api_error error;         /* once done: why there is no reply, or why it broke off */
    enum generate_end end;          /* once done without an error */
    struct api_text text, thoughts; /* whole characters */
    struct api_text scores;         /* scores of api_scores.h, if requested */
    struct api_text vectors;        /* API_EMBED: (n_turns, dim) f32 */
    uint32_t prompt_tokens, cached_tokens, reply_tokens;
    uint32_t spent_tokens;      /* tokens of earlier tries of this reply, which were
                                 * refused */
    struct api_figures figures; /* once done without an error */
    const char *line;           /* constant: the board that answered; NULL: this machine */
};

#endif
