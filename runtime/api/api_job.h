/* A request with its result so far, and the figures of a reply: its speed, the card's work, the
 * temperature. A line's event `done` has the same figures (docs/SERIAL.md). */
#ifndef INGOT_RUNTIME_API_JOB_H
#define INGOT_RUNTIME_API_JOB_H

#include "runtime/api/api_request.h"
#include "runtime/session/generate.h"

enum api_figure {
    API_DECODE_TOKENS_PER_S,
    API_FIRST_TOKEN_MS,
    API_CARD_MB_PER_S, /* rate at which weights are streamed */
    API_STALLED_PERCENT,
    API_TEMPERATURE_C,
    API_CONTEXT_TOKENS, /* tokens of the conversation so far; the next figure is their limit */
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
    struct api_error error;         /* after the end: why there is no reply, or why the reply broke
                                     * off */
    enum generate_end end;          /* set once the job is done without an error */
    uint32_t stop;                  /* after GENERATE_STOP: the number of the stop string, counted
                                     * from 1; 0: not known, because a board does not say it */
    struct api_text text, thoughts; /* whole characters */
    struct api_text scores;         /* scores of api_scores.h, if requested */
    struct api_text vectors;        /* API_EMBED: (n_turns, dim) f32 */
    uint32_t prompt_tokens, cached_tokens, reply_tokens;
    uint32_t spent_tokens;      /* tokens of this reply's earlier tries, all of which were
                                 * refused */
    struct api_figures figures; /* set once the job is done without an error */
    const char *line;           /* the board that answered, or NULL for this machine */
};

/* Take the number of tokens, and why the reply ended, from the result of a reply of this machine. */
void api_job_take_result(struct api_job *j, const struct generate_result *r);

#endif
