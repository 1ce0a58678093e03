#include "host/plan/board_table.h"

#include <stdio.h>
#include <string.h>

/* Each board's folder has one row. */
static const struct board_facts boards[] = {
#define BOARD(its_name, ...) { .name = (its_name), __VA_ARGS__ },
#include "board_rows.inc"
#undef BOARD
};

enum { N_BOARDS = sizeof boards / sizeof boards[0] };

const struct board_facts *board_facts_all(size_t *n)
{
    *n = N_BOARDS;
    return boards;
}

static bool is_also(const struct board_facts *b, const char *name)
{
    return b->also != NULL && strcmp(b->also, name) == 0;
}

const struct board_facts *board_facts_find(const char *name)
{
    for (size_t i = 0; i < N_BOARDS; i++) {
        if (strcmp(boards[i].name, name) == 0 || is_also(&boards[i], name)) {
            return &boards[i];
        }
    }
    return NULL;
}

uint32_t board_facts_usual(const struct board_facts *b, const char *name)
{
    return is_also(b, name) ? b->also_mib : b->usual_mib;
}

void board_facts_sizes(const struct board_facts *b, char *text, size_t bytes)
{
    const char *comma = "";
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < BOARD_MOST_SIZES && b->ram_mib[i] != 0 && used < bytes; i++) {
        if (b->ram_mib[i] < 1024) {
            used += (size_t)snprintf(text + used, bytes - used, "%s%u MiB", comma, b->ram_mib[i]);
        } else {
            used += (size_t)snprintf(text + used, bytes - used, "%s%u GiB", comma,
                                     b->ram_mib[i] / 1024);
        }
        comma = ", ";
    }
}

bool board_facts_has(const struct board_facts *b, uint64_t bytes)
{
    if (b->memory_mb == 0) {
        return true;
    }
    for (size_t i = 0; i < BOARD_MOST_SIZES && b->ram_mib[i] != 0; i++) {
        if ((uint64_t)b->ram_mib[i] << 20 == bytes) {
            return true;
        }
    }
    return false;
}
