/* Figures of a reply, as a board's event `done` has them (docs/SERIAL.md): speed, work of the card,
 * temperature. */
#ifndef INGOT_HOST_SERVE_FIGURES_H
#define INGOT_HOST_SERVE_FIGURES_H

struct cJSON;

/* A value that is NaN is not known. */
struct serve_figures {
    double decode_tokens_per_s, first_token_ms;
    double card_mb_per_s, stalled_percent; /* of what streams */
    double temperature_c;
    double context_tokens,
        context_limit_tokens; /* tokens that the conversation takes, and those that fit */
};

/* None is known. */
void serve_figures_clear(struct serve_figures *f);

/* Reads the figures of an event; those that it lacks are not known. */
void serve_figures_read(struct serve_figures *f, const struct cJSON *event);

/* Adds all of them to an object under their names; null: not known. */
void serve_figures_add(struct cJSON *object, const struct serve_figures *f);

#endif
