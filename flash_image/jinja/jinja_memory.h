/* The bounded resources of a template while it is read and run (memory, steps and depth), and the
 * way out that errors take. */
#ifndef INGOT_FLASH_IMAGE_JINJA_MEMORY_H
#define INGOT_FLASH_IMAGE_JINJA_MEMORY_H

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JINJA_MOST_MEMORY = 32 << 20,
    JINJA_MOST_STEPS = 1 << 19,
    JINJA_MOST_DEPTH = 500, /* depth of nested expressions, blocks and macros */
    JINJA_MOST_TEXT = 1 << 20,
    JINJA_MOST_LOOKED =
        64 << 20, /* most bytes that searches read; one step may search a long text */
    JINJA_ERROR_MESSAGE_BYTES = 200,
};

struct jinja_piece;

struct jinja {
    struct jinja_piece *pieces;
    size_t memory, left;
    unsigned char *next;
    uint32_t steps;
    size_t looked;
    unsigned depth, line; /* line: the line of the template that is read or run */
    jmp_buf escape;       /* set by the caller of the reader or the runner */
    char error_message[JINJA_ERROR_MESSAGE_BYTES];
};

/* Free all memory; j can be used again. */
void jinja_free(struct jinja *j);

/* Allocate zeroed memory, aligned for any type; it lives until jinja_free(). */
void *jinja_alloc(struct jinja *j, size_t bytes);

/* Copy a buffer of `bytes` bytes to a new one of `more` bytes. */
void *jinja_grow(struct jinja *j, const void *old, size_t bytes, size_t more);

/* Count a step; the limit of steps makes every template end. */
void jinja_step(struct jinja *j);

/* Count bytes that are searched; this also makes every template end. */
void jinja_look_through(struct jinja *j, size_t bytes);

/* Enter a level of nesting, or leave it. */
void jinja_enter(struct jinja *j);
void jinja_leave(struct jinja *j);

/* Write "line N: ..." to j->error_message, and leave through j->escape. */
_Noreturn void jinja_fail(struct jinja *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
