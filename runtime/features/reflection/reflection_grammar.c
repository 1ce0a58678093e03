/* Makes the grammar of replies to /reflect on the board. Such a reply is a text that may contain
 * complete memory tags,
 *
 *     <|mem_store|>NAMESPACE TEXT<|mem_end|>
 *
 * The model may say anything else, but never a part of a tag or an unknown namespace. */
#include "runtime/features/reflection/reflection_grammar.h"

#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/features/fabric/fabric.h"

static const char begin_tag[] = "<|mem_store|>", end_tag[] = "<|mem_end|>";

/* The first states are the text outside tags, the memory in a tag, and the places before and after
 * one byte of a memory. The states after these follow the bytes of the tags and of the namespaces'
 * names, one state for each byte. */
enum {
    TEXT,
    BODY,
    BODY_BYTE,
    BODY_TAKEN,
    FIRST_FREE,
    MOST_STATES = 128,
};

struct tables {
    struct ingot_grammar_state states[MOST_STATES];
    struct ingot_grammar_edge edges[MOST_STATES][8];
    unsigned n_states;
};

static_assert(sizeof(struct tables) <= REFLECTION_WORK_BYTES, "there is room to make it");
static_assert((int)REFLECTION_BODY_BYTES <= (int)FABRIC_TEXT_BYTES, "what is kept fits a note");

static void put_edge(struct tables *t, unsigned state, unsigned low, unsigned high, unsigned to)
{
    t->edges[state][t->states[state].n_edges++] =
        (struct ingot_grammar_edge){ (uint8_t)low, (uint8_t)high, (uint16_t)to };
}

/* Add edges that lead from state `from`, over all bytes of a word, to state `to`. */
static void put_word(struct tables *t, unsigned from, const char *word, unsigned to)
{
    for (size_t i = 0; word[i] != '\0'; i++) {
        unsigned next = word[i + 1] != '\0' ? t->n_states++ : to;

        put_edge(t, from, (uint8_t)word[i], (uint8_t)word[i], next);
        from = next;
    }
}

static void lay_out(struct tables *t)
{
    unsigned name, blank;

    memset(t, 0, sizeof *t);
    t->n_states = FIRST_FREE;
    t->states[TEXT].accepts = true;
    name = t->n_states++;
    blank = t->n_states++;
    put_edge(t, TEXT, 0, '<' - 1, TEXT);
    put_edge(t, TEXT, '<' + 1, 255, TEXT);
    put_word(t, TEXT, begin_tag, name);
    for (unsigned i = 0; i < FABRIC_SPACES; i++) {
        put_word(t, name, fabric_kinds[i].name, blank);
    }
    put_edge(t, blank, ' ', ' ', BODY);
    put_edge(t, BODY, 1, 0, 0); /* the grammar's only call */
    put_edge(t, BODY_BYTE, 0, '\n' - 1, BODY_TAKEN);
    put_edge(t, BODY_BYTE, '\n' + 1, '<' - 1, BODY_TAKEN);
    put_edge(t, BODY_BYTE, '<' + 1, 255, BODY_TAKEN);
    t->states[BODY_TAKEN].accepts = true;
}

size_t reflection_grammar(void *memory, void *work)
{
    struct ingot_grammar *head = memory;
    struct ingot_grammar_state *states = (void *)(head + 1);
    struct tables *t = work;
    struct ingot_grammar_edge *edges;
    struct ingot_grammar_call call = { .start = BODY_BYTE,
                                       .least = 1,
                                       .most = REFLECTION_BODY_BYTES };
    unsigned n_edges = 0;
    size_t bytes;

    lay_out(t);
    call.then = (uint16_t)t->n_states++;
    put_word(t, call.then, end_tag, TEXT);
    edges = (void *)(states + t->n_states);
    for (unsigned i = 0; i < t->n_states; i++) {
        states[i] = t->states[i];
        states[i].edges = (uint16_t)n_edges;
        memcpy(edges + n_edges, t->edges[i], t->states[i].n_edges * sizeof *edges);
        n_edges += t->states[i].n_edges;
    }
    memcpy(edges + n_edges, &call, sizeof call);
    bytes = (size_t)((uint8_t *)(edges + n_edges) - (uint8_t *)memory) + sizeof call;
    *head = (struct ingot_grammar){ .magic = INGOT_GRAMMAR_MAGIC,
                                    .version = INGOT_GRAMMAR_VERSION,
                                    .start = TEXT,
                                    .n_states = (uint16_t)t->n_states,
                                    .n_edges = (uint16_t)n_edges,
                                    .n_calls = 1 };
    head->crc32c = crc32c(0, &head->version, bytes - 8);
    return bytes;
}
