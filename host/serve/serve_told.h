/* The events of a model on this computer, by the runtime's own words: the events `plan` and `stats` of a board's line
 * (docs/SERIAL.md), and the figures of a reply. All of it in the model's thread; `look` has the lock of its owner. */
#ifndef INGOT_HOST_SERVE_TOLD_H
#define INGOT_HOST_SERVE_TOLD_H

#include "host/serve/serve_backend.h"
#include "runtime/app/app.h"
#include "runtime/session/generate.h"

struct serve_told {
    struct serve_look look; /* what is known by now */
    /* A console whose device is a text of it. */
    struct platform platform;
    struct console console;
    char *text; /* (SERVE_EVENT_BYTES) */
    size_t n;
    bool failed; /* it was too long */
};

/* The model is loaded. */
void serve_told_open(struct serve_told *t, struct app *app);

/* After a reply in the session, or the end of one without (f NULL). */
void serve_told_news(struct serve_told *t, const struct serve_stats *so_far,
                     const struct session *s, const struct serve_figures *f);

/* For a reply that has ended in the session. Replies side by side share what the card did. */
void serve_told_figures(struct serve_told *t, const struct session *s,
                        const struct generate_result *r, struct serve_figures *f);

#endif
