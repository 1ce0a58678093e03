/* Writes flattened device trees, for tests of their readers. */
#ifndef INGOT_TESTS_UNIT_TREE_WRITER_H
#define INGOT_TESTS_UNIT_TREE_WRITER_H

#include <stdint.h>
#include <string.h>

enum { ROOM = 8192 };

struct writer {
    uint8_t structure[ROOM], strings[ROOM], blob[2 * ROOM];
    uint32_t n_structure, n_strings, n_blob;
};

static inline void put_u32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void put_token(struct writer *w, uint32_t value)
{
    put_u32(w->structure + w->n_structure, value);
    w->n_structure += 4;
}

static inline void put_bytes(struct writer *w, const void *data, uint32_t bytes)
{
    memcpy(w->structure + w->n_structure, data, bytes);
    w->n_structure = (w->n_structure + bytes + 3) & ~3u;
}

static inline void begin(struct writer *w, const char *name)
{
    put_token(w, 1);
    put_bytes(w, name, (uint32_t)strlen(name) + 1);
}

static inline void end(struct writer *w)
{
    put_token(w, 2);
}

static inline void property(struct writer *w, const char *name, const void *data, uint32_t bytes)
{
    put_token(w, 3);
    put_token(w, bytes);
    put_token(w, w->n_strings);
    put_bytes(w, data, bytes);
    memcpy(w->strings + w->n_strings, name, strlen(name) + 1);
    w->n_strings += (uint32_t)strlen(name) + 1;
}

static inline void text(struct writer *w, const char *name, const char *value)
{
    property(w, name, value, (uint32_t)strlen(value) + 1);
}

static inline void cells(struct writer *w, const char *name, unsigned n, const uint32_t *values)
{
    uint8_t data[64];

    for (unsigned i = 0; i < n; i++)
        put_u32(data + 4 * i, values[i]);
    property(w, name, data, 4 * n);
}

#define CELLS(w, name, ...) \
    cells(w, name, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, (const uint32_t[]){ __VA_ARGS__ })

/* Writes header, one reservation, structure, strings, and `slack` unused bytes. */
static inline void finish(struct writer *w, uint32_t slack)
{
    uint32_t structure = 40 + 32, strings = structure + w->n_structure + 4;
    uint32_t total = strings + w->n_strings + slack;
    const uint32_t header[10] = { 0xd00dfeed, total, structure, strings,      40,
                                  17,         16,    0,         w->n_strings, w->n_structure + 4 };

    put_token(w, 9);
    memset(w->blob, 0, sizeof w->blob);
    for (int i = 0; i < 10; i++)
        put_u32(w->blob + 4 * i, header[i]);
    put_u32(w->blob + 40 + 4, 0x80000000);
    put_u32(w->blob + 40 + 12, 0x1000);
    memcpy(w->blob + structure, w->structure, w->n_structure);
    memcpy(w->blob + strings, w->strings, w->n_strings);
    w->n_blob = total;
}

#endif
