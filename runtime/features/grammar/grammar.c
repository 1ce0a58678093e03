#include "runtime/features/grammar/grammar.h"

#include "runtime/base/crc32c.h"

static enum err refuse(const char **error_message, const char *why)
{
    *error_message = why;
    return ERR_BAD_MODEL;
}

static size_t bytes_of(const struct ingot_grammar *head)
{
    return sizeof *head + head->n_states * sizeof(struct ingot_grammar_state) +
           head->n_edges * sizeof(struct ingot_grammar_edge) +
           head->n_calls * sizeof(struct ingot_grammar_call);
}

static enum err check_head(const struct ingot_grammar *head, size_t bytes,
                           const char **error_message)
{
    if (bytes < sizeof *head || head->magic != INGOT_GRAMMAR_MAGIC) {
        return refuse(error_message, "it is not a compiled grammar: `ingot grammar` makes one");
    }
    if (head->version != INGOT_GRAMMAR_VERSION) {
        return refuse(error_message,
                      "it is of another version: make it again with `ingot grammar`");
    }
    if (bytes != bytes_of(head) || bytes > INGOT_GRAMMAR_BYTES) {
        return refuse(error_message, "the grammar is cut off, or too long");
    }
    if (crc32c(0, &head->version, bytes - 8) != head->crc32c) {
        return refuse(error_message, "the grammar is damaged: its checksum is wrong");
    }
    return ERR_OK;
}

static bool edges_are_sound(const struct grammar *g)
{
    const struct ingot_grammar *head = g->head;

    for (unsigned i = 0; i < head->n_states; i++) {
        if (g->states[i].edges + g->states[i].n_edges > head->n_edges || g->states[i].accepts > 1) {
            return false;
        }
    }
    for (unsigned i = 0; i < head->n_edges; i++) {
        bool calls = g->edges[i].low > g->edges[i].high;

        if (g->edges[i].to >= (calls ? head->n_calls : head->n_states)) {
            return false;
        }
    }
    return head->start < head->n_states;
}

static bool calls_are_sound(const struct grammar *g)
{
    for (unsigned i = 0; i < g->head->n_calls; i++) {
        const struct ingot_grammar_call *c = &g->calls[i];

        if (c->start >= g->head->n_states || c->then >= g->head->n_states || c->most == 0 ||
            c->most < c->least) {
            return false;
        }
    }
    return true;
}

enum err grammar_open(struct grammar *g, const void *memory, size_t bytes,
                      const char **error_message)
{
    const struct ingot_grammar *head = memory;
    enum err e = check_head(head, bytes, error_message);

    if (e != ERR_OK) {
        return e;
    }
    g->head = head;
    g->states = (const void *)(head + 1);
    g->edges = (const void *)(g->states + head->n_states);
    g->calls = (const void *)(g->edges + head->n_edges);
    if (!edges_are_sound(g) || !calls_are_sound(g)) {
        return refuse(error_message, "the grammar is damaged: it points outside itself");
    }
    return ERR_OK;
}
