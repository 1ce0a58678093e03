#include "runtime/features/memory_tags/memory_tags.h"

#include <assert.h>
#include <string.h>

static_assert(HIDDEN_TAG_BODY_BYTES >= FABRIC_TEXT_BYTES + 16, "namespace, blank, text");

/* Parse NAMESPACE, and for MEMORY_STORE a text after a space. */
void memory_tags_add(struct memory_tags *t, const struct hidden_tag *tag)
{
    const char *text = tag->body;
    size_t bytes = tag->bytes, space = 0;
    enum fabric_name name;

    if (tag->cut || t->n == MEMORY_TAGS_OPERATIONS || bytes > HIDDEN_TAG_BODY_BYTES) {
        t->refused++;
        return;
    }
    while (space < bytes && text[space] != ' ') {
        space++;
    }
    name = fabric_find(text, space);
    while (space < bytes && text[space] == ' ') {
        space++;
    }
    bytes -= space;
    if (name == FABRIC_SPACES || bytes > FABRIC_TEXT_BYTES || (bytes == 0) != !tag->stores) {
        t->refused++;
        return;
    }
    t->operations[t->n] = (struct memory_operation){ .tag = tag->stores ? MEMORY_STORE
                                                                        : MEMORY_FORGET,
                                                     .space = (uint8_t)name,
                                                     .bytes = (uint16_t)bytes };
    memcpy(t->operations[t->n++].text, text + space, bytes);
}
