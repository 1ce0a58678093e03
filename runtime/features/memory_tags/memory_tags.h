/* Operations that a reply requests with tags: `<|mem_store|>NAMESPACE TEXT<|mem_end|>` and
 * `<|mem_forget|>NAMESPACE<|mem_end|>`. runtime/text/hidden_tags.h hides the tags.
 *
 * The operations run after the reply (chat_fabric.h), because learning would change the logits of
 * the reply. */
#ifndef INGOT_RUNTIME_MEMORY_TAGS_H
#define INGOT_RUNTIME_MEMORY_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"
#include "runtime/text/hidden_tags.h"

enum {
    MEMORY_TAGS_OPERATIONS = 4, /* the most operations of a reply; others are only counted */
};

enum memory_tag { MEMORY_STORE, MEMORY_FORGET };

struct memory_operation {
    uint8_t tag;   /* enum memory_tag */
    uint8_t space; /* enum fabric_name */
    uint16_t bytes;
    char text[FABRIC_TEXT_BYTES];
};

/* The operations of a reply. All fields are zero when the reply begins. */
struct memory_tags {
    uint32_t n, refused; /* operations to do; operations refused because there are too many, or
                          * because they are too long, cut or without a namespace */
    struct memory_operation operations[MEMORY_TAGS_OPERATIONS];
};

/* Add the operation of a tag in the reply. */
void memory_tags_add(struct memory_tags *t, const struct hidden_tag *tag);

#endif
