#include "runtime/saved/saved_learnt.h"

bool saved_learnt_is(enum saved_kind kind)
{
    return kind == SAVED_LESSONS || kind == SAVED_POLICY || kind == SAVED_FABRIC;
}

void saved_learnt_describe(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    if (state->kind == SAVED_LESSONS) {
        h->dim = state->lessons->dim;
        h->n_examples = state->lessons->n;
    } else if (state->kind == SAVED_POLICY) {
        h->dim = state->experience->patterns.dim;
        h->n_examples = state->experience->patterns.n;
    } else {
        h->dim = state->fabric->dim;
        h->n_examples = state->fabric->n_examples;
        h->n_notes = state->fabric->n_notes;
    }
}

void saved_learnt_describe_most(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    saved_learnt_describe(state, h);
    if (state->kind == SAVED_LESSONS) {
        h->n_examples = LESSONS_ROOM;
    } else if (state->kind == SAVED_POLICY) {
        h->n_examples = PATTERNS_MOST;
    } else {
        h->n_examples = state->fabric->room.examples;
        h->n_notes = state->fabric->room.notes;
    }
}

bool saved_learnt_fits(const struct saved_chat_state *state, const struct saved_chat_header *h)
{
    struct saved_chat_header most = { 0 };

    saved_learnt_describe_most(state, &most);
    return h->dim == most.dim && h->n_examples <= most.n_examples && h->n_notes <= most.n_notes &&
           h->payload_bytes == saved_learnt_bytes(state, h);
}

bool saved_learnt_agrees(const struct saved_chat_state *state, const struct saved_chat_header *h)
{
    struct saved_chat_header now = { 0 };

    saved_learnt_describe(state, &now);
    return h->n_examples == now.n_examples && h->n_notes == now.n_notes;
}

uint64_t saved_learnt_bytes(const struct saved_chat_state *state, const struct saved_chat_header *h)
{
    if (state->kind == SAVED_LESSONS) {
        return lessons_move_bytes(state->lessons, h->n_examples);
    }
    if (state->kind == SAVED_POLICY) {
        return experience_move_bytes(state->experience, h->n_examples);
    }
    return fabric_move_bytes(state->fabric, h->n_notes, h->n_examples);
}

enum err saved_learnt_move(const struct saved_chat_state *state, bool loads,
                           enum err (*move)(void *context, void *memory, size_t bytes),
                           void *context)
{
    if (state->kind == SAVED_LESSONS) {
        return lessons_move(state->lessons, loads, move, context);
    }
    if (state->kind == SAVED_POLICY) {
        return experience_move(state->experience, loads, move, context);
    }
    return fabric_move(state->fabric, loads, move, context);
}

bool saved_learnt_is_empty(const struct saved_chat_state *state)
{
    if (state->kind == SAVED_LESSONS) {
        return state->lessons->learner.totals.lessons == 0;
    }
    if (state->kind == SAVED_POLICY) {
        return state->experience->totals.turns == 0;
    }
    return state->fabric->n_background == 0; /* what was forgotten since is worth a save too */
}

bool saved_learnt_is_sound(const struct saved_chat_state *state)
{
    uint32_t vocab = state->session->model->image.header->params.vocab;

    if (state->kind == SAVED_LESSONS) {
        return lessons_are_sound(state->lessons, vocab);
    }
    if (state->kind == SAVED_POLICY) {
        return experience_is_sound(state->experience);
    }
    return fabric_is_sound(state->fabric, vocab);
}

void saved_learnt_clear(const struct saved_chat_state *state)
{
    if (state->kind == SAVED_LESSONS) {
        lessons_clear(state->lessons);
    } else if (state->kind == SAVED_POLICY) {
        experience_clear(state->experience);
    } else {
        fabric_clear(state->fabric);
    }
}
