/* Tags of a reply that are never shown: `<|mem_NAME|>`, and if NAME is store or forget,
 * everything up to `<|mem_end|>` or the end of the line, even across tokens. The
 * tag's text is passed to a function (docs/FABRIC.md). */
#ifndef INGOT_RUNTIME_HIDDEN_TAGS_H
#define INGOT_RUNTIME_HIDDEN_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HIDDEN_TAG_NAME_BYTES = 16, HIDDEN_TAG_BODY_BYTES = 256 };

struct hidden_tag {
    bool stores;      /* true for a store tag, false for a forget tag */
    bool cut;         /* the text ended, or changed its kind (thoughts or answer), before the tag
                       * ended */
    const char *body; /* (bytes) the text; bytes is HIDDEN_TAG_BODY_BYTES + 1 if the text is too
                       * long */
    size_t bytes;
};

struct hidden_tags {
    void (*write)(void *context, const char *text, size_t bytes);
    void (*tag)(void *context, const struct hidden_tag *tag);
    void *context;
    uint8_t state;   /* what the next byte is: text, or a part of a tag */
    uint8_t matched; /* number of bytes of a mark that have come */
    uint8_t name_bytes;
    uint16_t body_bytes; /* room + 1 if the text is too long */
    char name[HIDDEN_TAG_NAME_BYTES];
    char body[HIDDEN_TAG_BODY_BYTES];
};

/* Zero t first. `write` gets the text to show. A character that one call passes whole is never
 * split. `tag` may be NULL. */
void hidden_tags_write(struct hidden_tags *t, const char *text, size_t bytes);

/* Call when the text ends, or changes its kind. An incomplete mark of a tag is shown; a tag that
 * has begun is not shown, and counts as cut. */
void hidden_tags_end(struct hidden_tags *t);

#endif
