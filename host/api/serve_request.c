#include "host/api/serve_request.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 64 << 10 };

struct block {
    struct block *next;
    uint64_t bytes[]; /* aligned */
};

struct memory {
    struct api_memory memory; /* the first member, so both structs have the same address */
    struct block *blocks;
    atomic_uint holders;
};

static bool add_block(struct api_memory *m, size_t bytes)
{
    struct memory *all = (struct memory *)m;
    size_t room = bytes < BLOCK_BYTES ? BLOCK_BYTES : bytes;
    struct block *b = malloc(sizeof *b + room);

    if (b == NULL) {
        return false;
    }
    b->next = all->blocks;
    all->blocks = b;
    m->block = (char *)b->bytes;
    m->used = 0;
    m->room = room;
    return true;
}

struct api_memory *serve_memory_new(void)
{
    struct memory *all = calloc(1, sizeof *all);

    if (all == NULL) {
        return NULL;
    }
    all->memory.more = add_block;
    atomic_init(&all->holders, 1);
    return &all->memory;
}

void serve_memory_drop(struct api_memory *m)
{
    struct memory *all = (struct memory *)m;

    if (all == NULL || atomic_fetch_sub(&all->holders, 1) != 1) {
        return;
    }
    while (all->blocks != NULL) {
        struct block *next = all->blocks->next;

        free(all->blocks);
        all->blocks = next;
    }
    free(all);
}

void serve_request_free(struct api_request *q)
{
    serve_memory_drop(q->memory);
    memset(q, 0, sizeof *q);
}

void serve_request_copy(struct api_request *to, const struct api_request *from)
{
    *to = *from;
    if (from->memory != NULL) {
        (void)atomic_fetch_add(&((struct memory *)from->memory)->holders, 1);
    }
}

char *serve_memory_copy(struct api_memory *m, const char *bytes, size_t n)
{
    char *copy = api_memory_take(m, n + 1);

    if (copy != NULL) {
        memcpy(copy, bytes, n);
        copy[n] = '\0';
    }
    return copy;
}

bool serve_request_read(struct api_request *q, enum api_kind kind, const char *body, size_t bytes,
                        const struct api_defaults *d, struct api_error *e)
{
    struct api_defaults held = *d;
    char *copy;

    held.holder = &serve_holder;
    q->memory = serve_memory_new();
    copy = q->memory != NULL ? serve_memory_copy(q->memory, body, bytes) : NULL;
    if (copy == NULL) {
        return api_refuse(e, 500, NULL, NULL, "out of memory");
    }
    return api_request_read(q, kind, copy, bytes, &held, e);
}

bool serve_request_hold(struct api_request *q, void *grammar, size_t bytes, struct api_error *e)
{
    q->grammar = serve_memory_copy(q->memory, grammar, bytes);
    q->grammar_bytes = bytes;
    free(grammar);
    return q->grammar != NULL || api_refuse(e, 500, NULL, NULL, "out of memory");
}
