#include "runtime/saved/saved_section.h"

#include "runtime/saved/saved_chat.h"

static void to_header(struct saved_chat_header *h, const struct saved_counts *counts)
{
    h->dim = counts->dim;
    h->n_examples = counts->examples;
    h->n_notes = counts->notes;
}

void saved_section_describe(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    struct saved_counts now, most;

    state->section->count(state->data, &now, &most);
    to_header(h, &now);
}

void saved_section_describe_most(const struct saved_chat_state *state, struct saved_chat_header *h)
{
    struct saved_counts now, most;

    state->section->count(state->data, &now, &most);
    to_header(h, &most);
}

bool saved_section_fits(const struct saved_chat_state *state, const struct saved_chat_header *h)
{
    struct saved_counts now, most;

    state->section->count(state->data, &now, &most);
    return h->dim == most.dim && h->n_examples <= most.examples && h->n_notes <= most.notes &&
           h->payload_bytes == saved_section_bytes(state, h);
}

bool saved_section_lacks_room(const struct saved_chat_state *state,
                              const struct saved_chat_header *h, const char *name, char *text,
                              size_t bytes)
{
    const struct saved_counts counts = { h->dim, h->n_examples, h->n_notes };
    struct saved_counts now, most;

    if (state->section->lacks_room == NULL) {
        return false;
    }
    state->section->count(state->data, &now, &most);
    return state->section->lacks_room(&counts, &most, name, text, bytes);
}

bool saved_section_agrees(const struct saved_chat_state *state, const struct saved_chat_header *h)
{
    struct saved_counts now, most;

    state->section->count(state->data, &now, &most);
    return h->n_examples == now.examples && h->n_notes == now.notes;
}

uint64_t saved_section_bytes(const struct saved_chat_state *state,
                             const struct saved_chat_header *h)
{
    struct saved_counts counts = { h->dim, h->n_examples, h->n_notes };

    return state->section->payload_bytes(state->data, &counts);
}
