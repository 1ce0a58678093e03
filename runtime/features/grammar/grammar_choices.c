/* A list of choices is a trie, and a trie is already an automaton. While it is built, a node has
 * its first child and its next sibling; then the edges of each node are stored in sequence. */
#include <string.h>

#include "runtime/base/crc32c.h"
#include "runtime/features/grammar/grammar.h"

enum { NODES = 2048, NONE = 0 };

struct node {
    uint16_t child, sibling; /* a node, or NONE; the root is never a child */
    uint8_t byte, accepts;
};

struct trie {
    struct node nodes[NODES];
    unsigned n;
};

static_assert(sizeof(struct trie) <= GRAMMAR_WORK_BYTES, "grammar.h says how much it takes");

static unsigned child_of(struct trie *t, unsigned at, uint8_t byte)
{
    unsigned i = t->nodes[at].child;

    while (i != NONE && t->nodes[i].byte != byte) {
        i = t->nodes[i].sibling;
    }
    if (i == NONE && t->n < NODES) {
        i = t->n++;
        t->nodes[i] = (struct node){ .sibling = t->nodes[at].child, .byte = byte };
        t->nodes[at].child = (uint16_t)i;
    }
    return i;
}

/* Add the choice at text. *end becomes the next bar or the end of the list. */
static enum err add_choice(struct trie *t, const char *text, const char **end,
                           const char **error_message)
{
    unsigned at = 0;

    for (; *text != '\0' && *text != '|'; text++) {
        if (text[0] == '\\' && (text[1] == '|' || text[1] == '\\')) {
            text++;
        }
        at = child_of(t, at, (uint8_t)*text);
        if (at == NONE) {
            *error_message = "the choices are too long together";
            return ERR_TOO_LONG;
        }
    }
    if (at == 0) {
        *error_message = "a choice is empty";
        return ERR_BAD_ARGUMENT;
    }
    t->nodes[at].accepts = 1;
    *end = text;
    return ERR_OK;
}

static enum err add_choices(struct trie *t, const char *text, const char **error_message)
{
    t->nodes[0] = (struct node){ 0 };
    t->n = 1;
    for (;; text++) {
        enum err e = add_choice(t, text, &text, error_message);

        if (e != ERR_OK || *text == '\0') {
            return e;
        }
    }
}

/* Every node except the root is the target of one edge. */
static void lay_out(const struct trie *t, struct ingot_grammar *head)
{
    struct ingot_grammar_state *states = (void *)(head + 1);
    struct ingot_grammar_edge *edges = (void *)(states + t->n);
    unsigned n = 0;

    for (unsigned i = 0; i < t->n; i++) {
        states[i] = (struct ingot_grammar_state){ .edges = (uint16_t)n,
                                                  .accepts = t->nodes[i].accepts };
        for (unsigned c = t->nodes[i].child; c != NONE; c = t->nodes[c].sibling) {
            edges[n++] = (struct ingot_grammar_edge){ t->nodes[c].byte, t->nodes[c].byte,
                                                      (uint16_t)c };
        }
        states[i].n_edges = (uint8_t)(n - states[i].edges);
    }
}

enum err grammar_from_choices(const char *text, void *memory, size_t room, void *work,
                              size_t *bytes, const char **error_message)
{
    struct ingot_grammar *head = memory;
    struct trie *trie = work;
    enum err e = add_choices(trie, text, error_message);

    if (e != ERR_OK) {
        return e;
    }
    *bytes = sizeof *head + trie->n * sizeof(struct ingot_grammar_state) +
             (trie->n - 1) * sizeof(struct ingot_grammar_edge);
    if (*bytes > room) {
        *error_message = "the choices are too long together";
        return ERR_TOO_LONG;
    }
    *head = (struct ingot_grammar){ .magic = INGOT_GRAMMAR_MAGIC,
                                    .version = INGOT_GRAMMAR_VERSION,
                                    .n_states = (uint16_t)trie->n,
                                    .n_edges = (uint16_t)(trie->n - 1) };
    lay_out(trie, head);
    head->crc32c = crc32c(0, &head->version, *bytes - 8);
    return ERR_OK;
}

bool grammar_is_choices(const char *text)
{
    return memchr(text, '|', strlen(text)) != NULL;
}
