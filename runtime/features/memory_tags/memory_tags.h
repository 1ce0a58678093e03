/* Memory tags in a reply: `<|mem_store|>NAMESPACE TEXT<|mem_end|>` and `<|mem_forget|>NAMESPACE<|mem_end|>`
 * become operations and are never shown, wherever the tokens' borders are. A tag ends with its line at
 * the latest. Other names of `<|mem_...|>` are left out of what is shown, and do nothing.
 *
 * The operations are done after the reply (chat_fabric.h), since what is learnt changes its logits. */
#ifndef INGOT_RUNTIME_MEMORY_TAGS_H
#define INGOT_RUNTIME_MEMORY_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/features/fabric/fabric.h"

enum {
    MEMORY_TAGS_OPERATIONS = 4, /* of a reply; more are counted and not done */
    MEMORY_TAGS_NAME_BYTES = 16,
    MEMORY_TAGS_BODY_BYTES = FABRIC_TEXT_BYTES + 16, /* namespace, blank, text */
};

enum memory_tag { MEMORY_STORE, MEMORY_FORGET };

struct memory_operation {
    uint8_t tag;   /* enum memory_tag */
    uint8_t space; /* enum fabric_name */
    uint16_t bytes;
    char text[FABRIC_TEXT_BYTES];
};

struct memory_tags {
    void (*write)(void *context, const char *text, size_t bytes);
    void *context;
    uint8_t state;   /* what the next byte belongs to */
    uint8_t matched; /* bytes of a mark that have come */
    uint8_t name_bytes;
    uint16_t body_bytes; /* may be one more than there is room for: too long */
    char name[MEMORY_TAGS_NAME_BYTES];
    char body[MEMORY_TAGS_BODY_BYTES];
    uint32_t n, refused; /* operations to be done; too many, too long, or of no namespace */
    struct memory_operation operations[MEMORY_TAGS_OPERATIONS];
};

/* write gets what is to be shown, whole characters where they came whole. */
void memory_tags_open(struct memory_tags *t,
                      void (*write)(void *context, const char *text, size_t bytes), void *context);

void memory_tags_write(struct memory_tags *t, const char *text, size_t bytes);

/* The text ends, or another kind of it begins: what looked like a tag so far is shown; a tag that has
 * begun is not, and does nothing. */
void memory_tags_end(struct memory_tags *t);

#endif
