/* Free requests and copy them: each reply to a request has its own copy. */
#include <stdlib.h>
#include <string.h>

#include "host/api/serve_request.h"

void serve_request_free(struct serve_request *q)
{
    for (uint32_t i = 0; i < q->n_turns; i++) {
        serve_text_free(&q->turns[i].user);
        serve_text_free(&q->turns[i].reply);
        serve_text_free(&q->turns[i].system);
        serve_text_free(&q->turns[i].tokens);
    }
    for (uint32_t i = 0; i < q->n_checked; i++) {
        free(q->checked[i].tool);
        free(q->checked[i].schema);
    }
    free(q->turns);
    free(q->checked);
    serve_text_free(&q->system);
    serve_text_free(&q->warnings);
    serve_text_free(&q->biases);
    free(q->grammar);
    memset(q, 0, sizeof *q);
}

static bool copy_text(struct serve_text *to, const struct serve_text *from)
{
    *to = (struct serve_text){ .n = 0 };
    return from->n == 0 || serve_text_add(to, from->bytes, from->n);
}

static bool copy_turns(struct serve_request *to, const struct serve_request *from)
{
    bool good = true;

    to->turns = calloc(from->n_turns, sizeof *to->turns);
    if (to->turns == NULL) {
        return false;
    }
    to->n_turns = from->n_turns;
    for (uint32_t i = 0; i < from->n_turns; i++) {
        struct serve_turn *t = &to->turns[i];
        const struct serve_turn *f = &from->turns[i];

        *t = *f;
        t->user = t->reply = t->system = t->tokens = (struct serve_text){ .n = 0 };
        good = copy_text(&t->user, &f->user) && copy_text(&t->reply, &f->reply) &&
               copy_text(&t->system, &f->system) && copy_text(&t->tokens, &f->tokens) && good;
    }
    return good;
}

static bool copy_checked(struct serve_request *to, const struct serve_request *from)
{
    bool good = true;

    if (from->n_checked == 0) {
        return true;
    }
    to->checked = calloc(from->n_checked, sizeof *to->checked);
    if (to->checked == NULL) {
        return false;
    }
    to->n_checked = from->n_checked;
    for (uint32_t i = 0; i < from->n_checked; i++) {
        const struct serve_checked *f = &from->checked[i];

        to->checked[i].tool = f->tool != NULL ? strdup(f->tool) : NULL;
        to->checked[i].schema = f->schema != NULL ? strdup(f->schema) : NULL;
        good = good && (f->tool == NULL || to->checked[i].tool != NULL) &&
               to->checked[i].schema != NULL;
    }
    return good;
}

bool serve_request_copy(struct serve_request *to, const struct serve_request *from)
{
    *to = *from;
    to->turns = NULL;
    to->checked = NULL;
    to->grammar = NULL;
    to->n_turns = to->n_checked = 0;
    to->system = to->warnings = to->biases = (struct serve_text){ .n = 0 };
    if (from->grammar != NULL) {
        to->grammar = malloc(from->grammar_bytes);
        if (to->grammar == NULL) {
            return false;
        }
        memcpy(to->grammar, from->grammar, from->grammar_bytes);
    }
    return copy_turns(to, from) && copy_checked(to, from) &&
           copy_text(&to->biases, &from->biases) && copy_text(&to->system, &from->system) &&
           copy_text(&to->warnings, &from->warnings);
}
