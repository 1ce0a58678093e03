/* The grammar that constrains /reflect to whole memory tags (flash_image/format/grammar.h). */
#ifndef INGOT_RUNTIME_REFLECTION_GRAMMAR_H
#define INGOT_RUNTIME_REFLECTION_GRAMMAR_H

#include <assert.h>
#include <stddef.h>

#include "flash_image/format/grammar.h"

enum {
    REFLECTION_BODY_BYTES = 200, /* longest memory in a tag; a memory of a person may have
                                  * FABRIC_TEXT_BYTES */
    REFLECTION_WORK_BYTES = 6 << 10,
    REFLECTION_GRAMMAR_BYTES = 4 << 10, /* the most bytes of the grammar */
};

/* Write the grammar to `memory` (REFLECTION_GRAMMAR_BYTES, 8-byte aligned), using `work`
 * (REFLECTION_WORK_BYTES, 4-byte aligned). Returns its size. */
size_t reflection_grammar(void *memory, void *work);

#endif
