/* Memory of one request: blocks are taken one after the other, and all of them are given back at
 * once. */
#ifndef INGOT_RUNTIME_API_MEMORY_H
#define INGOT_RUNTIME_API_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

struct api_text;

struct api_memory {
    char *block; /* (room), 8-byte aligned; `used` bytes of it are taken */
    size_t used, room;
    /* Put a block with room for `bytes` in the place of the current one, whose contents stay where
     * they are. False: there is none. NULL: this block is all there is. */
    bool (*more)(struct api_memory *m, size_t bytes);
};

/* memory: 8-byte aligned. */
void api_memory_open(struct api_memory *m, void *memory, size_t room);

/* bytes, 8-byte aligned and not zeroed; NULL: there is no room. */
void *api_memory_take(struct api_memory *m, size_t bytes);

/* An empty text that grows in it. */
void api_memory_text(struct api_memory *m, struct api_text *t);

#endif
