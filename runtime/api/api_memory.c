#include "runtime/api/api_memory.h"

#include <string.h>

#include "runtime/api/api_text.h"

enum { ALIGNED = 8, TEXT_BYTES = 64 };

void api_memory_open(struct api_memory *m, void *memory, size_t room)
{
    *m = (struct api_memory){ .block = memory, .room = room };
}

static size_t rounded(size_t bytes)
{
    return (bytes + ALIGNED - 1) & ~(size_t)(ALIGNED - 1);
}

void *api_memory_take(struct api_memory *m, size_t bytes)
{
    size_t n = rounded(bytes);
    char *taken;

    if (n < bytes || (n > m->room - m->used && (m->more == NULL || !m->more(m, n)))) {
        return NULL;
    }
    taken = m->block + m->used;
    m->used += n;
    return taken;
}

/* Grow the piece that was taken last, without moving it. */
static bool grow_last(struct api_memory *m, struct api_text *t, size_t room)
{
    size_t more = rounded(room - t->room);

    if (t->bytes == NULL || t->bytes + t->room != m->block + m->used || more > m->room - m->used) {
        return false;
    }
    m->used += more;
    t->room += more;
    return true;
}

static bool grow(struct api_text *t, size_t room)
{
    struct api_memory *m = t->memory;
    char *bytes;

    if (grow_last(m, t, room)) {
        return true;
    }
    /* If blocks can be added, a text that has to move doubles, so that one of n bytes written
     * byte by byte does not move n / 8 times. */
    if (m->more != NULL && room < 2 * t->room) {
        room = 2 * t->room;
    }
    room = rounded(room < TEXT_BYTES ? TEXT_BYTES : room);
    bytes = api_memory_take(m, room);
    if (bytes == NULL) {
        return false;
    }
    if (t->n != 0) {
        memcpy(bytes, t->bytes, t->n);
    }
    t->bytes = bytes;
    t->room = room;
    return true;
}

void api_memory_text(struct api_memory *m, struct api_text *t)
{
    *t = (struct api_text){ .grow = grow, .memory = m };
}
