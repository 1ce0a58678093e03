#include "host/args/host_option_names.h"

#include <stdbool.h>
#include <string.h>

#include "board/min_max.h"
#include "host/args/host_flags.h"

struct writer {
    char *out;
    size_t n, most;
    bool full;
};

static void put(struct writer *w, const char *text, size_t bytes)
{
    if (bytes > w->most - w->n) {
        w->full = true;
        return;
    }
    memcpy(w->out + w->n, text, bytes);
    w->n += bytes;
}

/* True for a character of a word or a path. */
static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '/';
}

/* Returns the row whose boot argument, with "=", begins the n bytes at text; NULL: none. */
static const struct command_option *row_at(const char *text, size_t n)
{
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        const char *word = host_flags[i].word;
        size_t bytes = host_flags[i].name != NULL ? strlen(word) : 0;

        if (bytes != 0 && n > bytes && text[bytes] == '=' && memcmp(text, word, bytes) == 0) {
            return &host_flags[i];
        }
    }
    return NULL;
}

/* Writes an option for the boot argument at text; returns the boot argument's length. */
static size_t put_option(struct writer *w, const struct command_option *row, const char *text,
                         size_t n)
{
    size_t bytes = strlen(row->word) + 1;

    put(w, row->name, strlen(row->name));
    if (n > bytes && text[bytes] != ' ' && text[bytes] != '\n' &&
        strchr(",;.:)", text[bytes]) == NULL) {
        put(w, " ", 1); /* the value follows */
    }
    return bytes;
}

size_t host_option_names_rewrite(const char *in, size_t n, char *out, size_t most)
{
    struct writer w = { .out = out, .most = most };
    size_t i = 0;

    while (i < n && !w.full) {
        const struct command_option *row = NULL;

        if (i == 0 || !is_word(in[i - 1])) {
            row = row_at(in + i, n - i);
        }
        if (row != NULL) {
            i += put_option(&w, row, in + i, n - i);
        } else {
            put(&w, in + i++, 1);
        }
    }
    if (w.full) {
        memcpy(out, in, min_size(n, most));
        return min_size(n, most);
    }
    return w.n;
}
