#include "flash_image/jinja/jinja_memory.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE_BYTES = 1 << 16 };

struct jinja_piece {
    struct jinja_piece *before;
    max_align_t data[];
};

void jinja_free(struct jinja *j)
{
    while (j->pieces != NULL) {
        struct jinja_piece *p = j->pieces;

        j->pieces = p->before;
        free(p);
    }
    j->memory = j->left = 0;
    j->steps = 0;
    j->looked = 0;
    j->depth = 0;
}

static void take_piece(struct jinja *j, size_t bytes)
{
    size_t size = bytes > PIECE_BYTES ? bytes : (size_t)PIECE_BYTES;
    struct jinja_piece *p;

    if (size > JINJA_MOST_MEMORY - j->memory) {
        jinja_fail(j, "the template takes more than %u MB of memory",
                   (unsigned)JINJA_MOST_MEMORY >> 20);
    }
    p = calloc(1, sizeof *p + size);
    if (p == NULL) {
        jinja_fail(j, "out of memory");
    }
    p->before = j->pieces;
    j->pieces = p;
    j->memory += size;
    j->left = size;
    j->next = (unsigned char *)p->data;
}

void *jinja_alloc(struct jinja *j, size_t bytes)
{
    void *p;

    if (bytes > JINJA_MOST_MEMORY) {
        jinja_fail(j, "the template takes too much memory");
    }
    bytes = (bytes + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);
    if (bytes > j->left) {
        take_piece(j, bytes);
    }
    p = j->next;
    j->next += bytes;
    j->left -= bytes;
    return p;
}

void *jinja_grow(struct jinja *j, const void *old, size_t bytes, size_t more)
{
    void *p = jinja_alloc(j, more);

    if (bytes != 0) {
        memcpy(p, old, bytes);
    }
    return p;
}

void jinja_step(struct jinja *j)
{
    if (++j->steps > JINJA_MOST_STEPS) {
        jinja_fail(j, "the template takes more than %u steps", (unsigned)JINJA_MOST_STEPS);
    }
}

void jinja_look_through(struct jinja *j, size_t bytes)
{
    if (bytes > JINJA_MOST_LOOKED - j->looked) {
        jinja_fail(j, "the template looks through more than %u MB of text and lists",
                   (unsigned)JINJA_MOST_LOOKED >> 20);
    }
    j->looked += bytes;
}

void jinja_enter(struct jinja *j)
{
    jinja_step(j);
    if (++j->depth > JINJA_MOST_DEPTH) {
        jinja_fail(j, "more than %u levels are nested", (unsigned)JINJA_MOST_DEPTH);
    }
}

void jinja_leave(struct jinja *j)
{
    j->depth--;
}

void jinja_fail(struct jinja *j, const char *format, ...)
{
    int used = snprintf(j->error_message, sizeof j->error_message, "line %u: ", j->line);
    va_list args;

    va_start(args, format);
    vsnprintf(j->error_message + used, sizeof j->error_message - (size_t)used, format, args);
    va_end(args);
    longjmp(j->escape, 1);
}
