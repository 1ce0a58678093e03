/* Operations that the tags of a reply ask for: `<|mem_store|>NAMESPACE TEXT<|mem_end|>` and `<|mem_forget|>NAMESPACE<|mem_end|>`. The tags
 * are hidden by runtime/text/hidden_tags.h.
 *
 * The operations are done after the reply (chat_fabric.h), since what is learnt changes its logits. */
#ifndef INGOT_RUNTIME_MEMORY_TAGS_H
#define INGOT_RUNTIME_MEMORY_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/text/hidden_tags.h"

enum {
    MEMORY_TAGS_OPERATIONS = 4, /* of a reply; more are counted and not done */
};

enum memory_tag { MEMORY_STORE, MEMORY_FORGET };

struct memory_operation {
    uint8_t tag;   /* enum memory_tag */
    uint8_t space; /* enum fabric_name */
    uint16_t bytes;
    char text[FABRIC_TEXT_BYTES];
};

/* Zeroed: of a reply that begins. */
struct memory_tags {
    uint32_t n, refused; /* operations to be done; too many, too long, cut, or of no namespace */
    struct memory_operation operations[MEMORY_TAGS_OPERATIONS];
};

/* A tag of the reply has come. */
void memory_tags_add(struct memory_tags *t, const struct hidden_tag *tag);

#endif
