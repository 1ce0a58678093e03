/* Events about a model on this computer, as the runtime writes them: `plan` and `stats` of a
 * board's line (docs/SERIAL.md), and the figures of a reply. All functions run in the model's
 * thread. The owner's lock protects `look`. */
#ifndef INGOT_HOST_SERVE_TOLD_H
#define INGOT_HOST_SERVE_TOLD_H

#include "host/api/serve_backend.h"
#include "runtime/app/app.h"
#include "runtime/session/generate.h"

struct serve_told {
    struct serve_look look; /* the latest events */
    /* A console that writes into a text. */
    struct platform platform;
    struct console console;
    char *text; /* (SERVE_EVENT_BYTES) */
    size_t n;
    bool failed; /* the text was too long */
};

/* Call when the model is loaded. */
void serve_told_open(struct serve_told *t, struct app *app);

/* Called after a reply in the session, or after a request that ended without one (f NULL). */
void serve_told_news(struct serve_told *t, const struct serve_stats *so_far,
                     const struct session *s, const struct api_figures *f);

/* Called when a reply has ended in the session. Replies that run at the same time share the card's
 * figures. */
void serve_told_figures(struct serve_told *t, const struct session *s,
                        const struct generate_result *r, struct api_figures *f);

#endif
