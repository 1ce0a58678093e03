/* Figures of a reply, as a board's event `done` has them (docs/SERIAL.md): how fast it came, what the card did, how warm it was. */
#ifndef INGOT_HOST_SERVE_FIGURES_H
#define INGOT_HOST_SERVE_FIGURES_H

struct cJSON;

/* A value that is not a number is not known. */
struct serve_figures {
    double decode_tokens_per_s, first_token_ms;
    double card_mb_per_s, stalled_percent; /* of what streams */
    double temperature_c;
    double context_tokens,
        context_limit_tokens; /* taken by the conversation, and how many it has */
};

/* None is known. */
void serve_figures_clear(struct serve_figures *f);

/* Those that an event says; the others are not known. */
void serve_figures_read(struct serve_figures *f, const struct cJSON *event);

/* All of them to an object under their names; null: not known. */
void serve_figures_add(struct cJSON *object, const struct serve_figures *f);

#endif
