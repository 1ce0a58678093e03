/* A compiled grammar, which says byte by byte what a reply may look like. `ingot grammar` writes such
 * files, and a board reads them from grammars/. Little-endian, no padding between the tables.
 *
 *   struct ingot_grammar
 *   struct ingot_grammar_state[n_states]
 *   struct ingot_grammar_edge[n_edges]    state i has n_edges edges from number `edges` on
 *   struct ingot_grammar_call[n_calls]
 *
 * The automaton reads bytes and has a stack. An edge leaves a state by a byte in a range, or by a
 * call. A call runs another part of the automaton, from its start to an accepting state, `least` to
 * `most` times, and continues at `then`. The text is complete if the state accepts and no call is
 * open. */
#ifndef INGOT_FLASH_IMAGE_GRAMMAR_FORMAT_H
#define INGOT_FLASH_IMAGE_GRAMMAR_FORMAT_H

#include <assert.h>
#include <stdint.h>

#define INGOT_GRAMMAR_MAGIC 0x474c5247u /* "GRLG" */

enum {
    INGOT_GRAMMAR_VERSION = 1,
    INGOT_GRAMMAR_BYTES = 64 << 10, /* largest size of a file */
    INGOT_GRAMMAR_DEPTH = 48,       /* calls open at once */
};

struct ingot_grammar {
    uint32_t magic;
    uint32_t crc32c; /* CRC-32C of everything after this field */
    uint16_t version;
    uint16_t start; /* state */
    uint16_t n_states, n_edges, n_calls;
    uint16_t reserved; /* 0 */
};
static_assert(sizeof(struct ingot_grammar) == 20, "the header of a grammar is 20 bytes");

struct ingot_grammar_state {
    uint16_t edges;
    uint8_t n_edges;
    uint8_t accepts; /* 0 or 1 */
};

struct ingot_grammar_edge {
    uint8_t low, high; /* range of bytes; low > high: a call */
    uint16_t to;       /* number of a state or, for a call, of the call */
};

struct ingot_grammar_call {
    uint16_t start, then; /* states */
    uint16_t least, most; /* times; most >= 1, most >= least */
};
static_assert(sizeof(struct ingot_grammar_state) == 4 && sizeof(struct ingot_grammar_edge) == 4 &&
                  sizeof(struct ingot_grammar_call) == 8,
              "the tables have no padding");

#endif
