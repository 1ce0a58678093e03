/* The list of features, and the functions that call one hook of every feature. */
#include "runtime/features/feature.h"

#include <assert.h>
#include <string.h>

#include "board/min_max.h"

enum { ALIGNMENT = 64 };

#define FEATURE(name) extern const struct feature feature_##name;
#include "runtime/features/features.inc"
#undef FEATURE

#define FEATURE(name) [FEATURE_##name] = &feature_##name,
const struct feature *const features_built_in[FEATURES_BUILT_IN] = {
#include "runtime/features/features.inc"
};
#undef FEATURE

void features_open(struct features *f, const struct feature *const *rows, unsigned n,
                   struct app *app)
{
    size_t used = 0;

    assert(n <= FEATURES_MOST);
    memset(f, 0, sizeof *f);
    f->rows = rows;
    f->n = n;
    f->app = app;
    for (unsigned i = 0; i < n; i++) {
        f->state[i] = f->memory + used;
        used += (rows[i]->state_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        assert(used <= sizeof f->memory); /* FEATURES_STATE_BYTES must hold the states of all
                                           * features */
    }
}

/* ---- a start --------------------------------------------------------------------------------- */

void features_start(struct features *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        if (f->rows[i]->start != NULL) {
            f->rows[i]->start(f->state[i], f->app);
        }
    }
}

void features_planned(struct features *f, struct model_setup *setup)
{
    for (unsigned i = 0; i < f->n; i++) {
        if (f->rows[i]->planned != NULL) {
            f->rows[i]->planned(f->state[i], f->app, setup);
        }
    }
}

size_t features_memory(struct features *f, const struct image *image)
{
    size_t bytes = 0;

    for (unsigned i = 0; i < f->n; i++) {
        if (f->rows[i]->memory != NULL) {
            bytes += f->rows[i]->memory(f->state[i], f->app, image);
        }
    }
    return bytes;
}

enum err features_ready(struct features *f)
{
    enum err e = ERR_OK;

    for (unsigned i = 0; i < f->n && e == ERR_OK; i++) {
        if (f->rows[i]->ready != NULL) {
            e = f->rows[i]->ready(f->state[i], f->app);
        }
    }
    return e;
}

void features_loaded(struct features *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        if (f->rows[i]->loaded != NULL) {
            f->rows[i]->loaded(f->state[i], f->app);
        }
    }
}

/* ---- a conversation -------------------------------------------------------------------------- */

/* Return true if the feature of row i or of a later row is on. */
static bool any_from(const struct features *f, unsigned i)
{
    return f != NULL && f->on >> i != 0;
}

void features_reset(struct features *f, struct chat *c)
{
    for (unsigned i = 0; f != NULL && i < f->n; i++) {
        if (f->rows[i]->reset != NULL) {
            f->rows[i]->reset(f->state[i], c);
        }
    }
}

void features_cleared(struct features *f, struct chat *c)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, cleared)) {
            f->rows[i]->cleared(f->state[i], c);
        }
    }
}

void features_changed(struct features *f, struct chat *c)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, changed)) {
            f->rows[i]->changed(f->state[i], c);
        }
    }
}

void features_weights_changed(struct features *f, struct chat *c)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, weights_changed)) {
            f->rows[i]->weights_changed(f->state[i], c);
        }
    }
}

void features_undone(struct features *f, struct chat *c)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, undone)) {
            f->rows[i]->undone(f->state[i], c);
        }
    }
}

void features_retried(struct features *f, struct chat *c, bool begins)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, retried)) {
            f->rows[i]->retried(f->state[i], c, begins);
        }
    }
}

/* ---- a prompt -------------------------------------------------------------------------------- */

void features_system(struct features *f, struct chat *c, const char **text, size_t *bytes)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, system)) {
            f->rows[i]->system(f->state[i], c, text, bytes);
        }
    }
}

uint32_t features_room(struct features *f, const struct chat *c, uint32_t most)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, room)) {
            most = min_u32(most, f->rows[i]->room(f->state[i], c));
        }
    }
    return most;
}

unsigned features_kept(struct features *f, const struct chat *c)
{
    unsigned n = 0;

    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, kept)) {
            n += f->rows[i]->kept(f->state[i], c);
        }
    }
    return n;
}

bool features_is_led(struct features *f, const char *text, size_t bytes)
{
    bool led = false;

    for (unsigned i = 0; f != NULL && i < f->n && !led; i++) {
        led = f->rows[i]->is_led != NULL && f->rows[i]->is_led(f->state[i], text, bytes);
    }
    return led;
}

/* ---- a turn ---------------------------------------------------------------------------------- */

void features_tell(struct features *f, struct feature_turn *t)
{
    t->told = t->text;
    t->told_bytes = t->bytes;
    for (unsigned i = 0; f != NULL && i < f->n; i++) {
        size_t bytes;
        const char *told = FEATURE_HAS(f, i, told) ? f->rows[i]->told(f->state[i], t, &bytes)
                                                   : NULL;

        if (told != NULL) {
            t->told = told;
            t->told_bytes = bytes;
            return;
        }
    }
}

void features_prompt_built(struct features *f, struct feature_turn *t)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, prompt_built)) {
            f->rows[i]->prompt_built(f->state[i], t);
        }
    }
}

enum err features_pass_begins(struct features *f, struct feature_turn *t, const struct stop *stop)
{
    enum err e = ERR_OK;

    for (unsigned i = 0; any_from(f, i) && e == ERR_OK; i++) {
        if (FEATURE_HAS(f, i, pass_begins)) {
            e = f->rows[i]->pass_begins(f->state[i], t, stop);
        }
    }
    return e;
}

void features_choose(struct features *f, struct feature_turn *t, struct generate_params *p,
                     struct generator *g)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, chooses)) {
            f->rows[i]->chooses(f->state[i], t, p, g);
        }
    }
}

void features_reply_begins(struct features *f, struct feature_turn *t)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, reply_begins)) {
            f->rows[i]->reply_begins(f->state[i], t);
        }
    }
}

void features_tagged(struct features *f, struct feature_turn *t, const struct hidden_tag *tag)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, tagged)) {
            f->rows[i]->tagged(f->state[i], t, tag);
        }
    }
}

void features_reply_ends(struct features *f, struct feature_turn *t, enum err error)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, reply_ends)) {
            f->rows[i]->reply_ends(f->state[i], t, error);
        }
    }
}

void features_say_end(struct features *f, const struct feature_turn *t)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, says_end)) {
            f->rows[i]->says_end(f->state[i], t);
        }
    }
}

void features_turn_ended(struct features *f, struct feature_turn *t, const char *reason)
{
    for (unsigned i = 0; any_from(f, i); i++) {
        if (FEATURE_HAS(f, i, turn_ended)) {
            f->rows[i]->turn_ended(f->state[i], t, reason);
        }
    }
}

size_t features_next_turn(struct features *f, struct feature_turn *t, char text[FEATURE_TURN_BYTES])
{
    for (unsigned i = 0; i < f->n; i++) {
        if (FEATURE_HAS(f, i, next_turn)) {
            return f->rows[i]->next_turn(f->state[i], t, text);
        }
    }
    return 0;
}

bool features_is_quiet(struct features *f, bool at_work)
{
    bool quiet = false;

    for (unsigned i = 0; any_from(f, i) && !quiet; i++) {
        quiet = FEATURE_HAS(f, i, is_quiet) && f->rows[i]->is_quiet(f->state[i], at_work);
    }
    return quiet;
}

void features_show(struct features *f, struct feature_turn *t, struct feature_text *to)
{
    for (unsigned i = f != NULL && f->on != 0 ? f->n : 0; i-- > 0;) {
        if (FEATURE_HAS(f, i, shows)) {
            f->rows[i]->shows(f->state[i], t, to);
        }
    }
}

const struct feature_field *features_field(struct features *f, const char *name, void **state)
{
    for (unsigned i = 0; f != NULL && i < f->n; i++) {
        const struct feature_field *field = f->rows[i]->field;

        if (field != NULL && strcmp(field->name, name) == 0) {
            *state = f->state[i];
            return field;
        }
    }
    return NULL;
}

enum err features_set(struct features *f, const char *name, const char *value, const char **accepts)
{
    for (unsigned i = 0; f != NULL && i < f->n; i++) {
        const struct feature_option *option = f->rows[i]->option;

        if (option != NULL && strcmp(option->name, name) == 0) {
            *accepts = option->set(f->state[i], value);
            return *accepts == NULL ? ERR_OK : ERR_BAD_ARGUMENT;
        }
    }
    return ERR_NOT_FOUND;
}
