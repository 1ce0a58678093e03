/* Finds out which model a board has, and lets it load the model of the others. */
#include <stdio.h>
#include <string.h>

#include "host/boards/serve_board_wire.h"
#include "host/boards/serve_boards_private.h"

enum { LOAD_MS = 120000 }; /* time limit for loading a model on request */

void serve_board_say(const struct board *b, const char *what)
{
    fprintf(stderr, "ingot: %s: %s\n", b->path, what);
}

void serve_board_be_patient(struct board *b, uint64_t until_ms)
{
    pthread_mutex_lock(&serve_pool.lock);
    b->patient_ms = until_ms;
    pthread_mutex_unlock(&serve_pool.lock);
}

/* Tell the board to load the model of the other boards. */
static void load(struct board *b)
{
    struct api_text line = { .n = 0 };

    pthread_mutex_lock(&serve_pool.lock);
    b->load_id = ++serve_pool.next_id;
    b->load_tried = serve_pool.choice;
    board_load_write(&line, b->load_id, serve_pool.model);
    b->patient_ms = serial_millis() + LOAD_MS;
    b->phase = ASKING;
    b->past.n = 0;
    pthread_mutex_unlock(&serve_pool.lock);
    (void)serial_send(&b->line, api_text_shown(&line), line.n);
    serve_text_free(&line);
}

void serve_board_load_chosen(struct board *b)
{
    bool differs;

    pthread_mutex_lock(&serve_pool.lock);
    differs = serve_pool_differs(b);
    pthread_mutex_unlock(&serve_pool.lock);
    if (differs) {
        load(b);
    }
}

/* True if the board should load the other boards' model: it has no model because somebody pressed a
 * key at its start, or somebody has chosen another model. A board is told only once, because its
 * card may lack the model. */
static bool should_load(struct board *b, const struct board_event *e)
{
    bool untried;

    pthread_mutex_lock(&serve_pool.lock);
    untried = b->load_tried != serve_pool.choice;
    pthread_mutex_unlock(&serve_pool.lock);
    return e->model == NULL || untried;
}

void serve_board_suit(const struct board *b, struct api_request *q)
{
    q->unmarked = !b->knows_said;
    q->plain_sampler = !b->knows_penalties;
    board_defaults_put(q, &b->defaults);
}

bool serve_board_has_model(struct board *b, const struct board_event *e)
{
    char why[API_MODEL_BYTES * 2 + 80], model[API_MODEL_BYTES];
    bool good = e->model != NULL, loads;

    board_defaults_read(&b->defaults, e);
    pthread_mutex_lock(&serve_pool.lock);
    snprintf(b->state.machine, sizeof b->state.machine, "%s", e->board != NULL ? e->board : "?");
    snprintf(b->state.model, sizeof b->state.model, "%s", good ? e->model : "");
    if (good && serve_pool.model[0] == '\0') {
        snprintf(serve_pool.model, sizeof serve_pool.model, "%s", e->model);
    }
    good = good && strncmp(serve_pool.model, e->model, sizeof serve_pool.model - 1) == 0;
    memcpy(model, serve_pool.model, sizeof model);
    pthread_mutex_unlock(&serve_pool.lock);
    if (e->model == NULL && model[0] == '\0') {
        return false; /* another board will decide what to load */
    }
    loads = !good && should_load(b, e);
    snprintf(why, sizeof why, "the board has %.127s, not %s: %s",
             e->model != NULL ? e->model : "no model", model,
             loads ? "it is told to load that model" : "it gets no requests");
    if (!good && !b->other) {
        serve_board_say(b, why);
    }
    b->other = !good && !loads;
    if (loads) {
        load(b);
    }
    return good;
}
