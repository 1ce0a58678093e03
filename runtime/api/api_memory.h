/* The memory of one request: pieces are taken one after the other, and all are given back at
 * once. */
#ifndef INGOT_RUNTIME_API_MEMORY_H
#define INGOT_RUNTIME_API_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct api_text;

struct api_memory {
    char *block; /* (room), 8-byte aligned; `used` bytes of it are taken */
    size_t used, room;
    /* Replaces the current block with one that has room for `bytes`; the old contents stay where
     * they are. Returns false if there is no memory. `more` is NULL if there is only one block. */
    bool (*more)(struct api_memory *m, size_t bytes);
};

/* Set up m with one block, `memory`, which must be 8-byte aligned. */
void api_memory_open(struct api_memory *m, void *memory, size_t room);

/* Return `bytes` of memory, 8-byte aligned and not zeroed, or NULL if there is no room. */
void *api_memory_take(struct api_memory *m, size_t bytes);

/* Set up an empty text that grows in m. */
void api_memory_text(struct api_memory *m, struct api_text *t);

#endif
