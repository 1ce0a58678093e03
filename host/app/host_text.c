#include "host/app/host_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/text/utf8.h"

void text_free(struct text *t)
{
    free(t->bytes);
    free(t->ids);
}

bool text_read(struct text *t, FILE *in, const char *name)
{
    size_t room = 1 << 16;

    errno = 0;
    t->bytes = malloc(room);
    while (t->bytes != NULL) {
        t->n_bytes += fread(t->bytes + t->n_bytes, 1, room - t->n_bytes, in);
        if (t->n_bytes < room) {
            break;
        }
        room *= 2;
        t->bytes = realloc(t->bytes, room);
    }
    if (t->bytes == NULL || ferror(in)) {
        fprintf(stderr, "ingot: %s: cannot be read: %s\n", name,
                strerror(errno != 0 ? errno : EIO));
        return false;
    }
    if (utf16_has_mark(t->bytes, t->n_bytes)) {
        fprintf(stderr, "ingot: %s: %s\n", name, utf16_cure);
        return false;
    }
    if (utf8_mark_bytes(t->bytes, t->n_bytes) != 0) {
        t->n_bytes -= UTF8_MARK_BYTES;
        memmove(t->bytes, t->bytes + UTF8_MARK_BYTES, t->n_bytes);
    }
    return true;
}

bool text_copy(struct text *t, const char *from)
{
    t->bytes = strdup(from);
    if (t->bytes == NULL) {
        fprintf(stderr, "ingot: out of memory\n");
        return false;
    }
    t->n_bytes = strlen(from);
    return true;
}

bool text_tokenize(struct text *t, const struct tokenizer *tokenizer, unsigned flags)
{
    size_t scratch_bytes = tokenizer_scratch_bytes(tokenizer_most_bytes(tokenizer, t->n_bytes));
    void *scratch = scratch_bytes != SIZE_MAX ? malloc(scratch_bytes) : NULL;
    /* Each token stands for at least one byte; a special token may add a space; BOS and EOS are
     * added. */
    size_t most = 2 * tokenizer_most_bytes(tokenizer, t->n_bytes) + 3;
    enum err e = ERR_NO_SPACE;

    t->ids = malloc(most * sizeof *t->ids);
    if (scratch != NULL && t->ids != NULL) {
        e = tokenizer_encode(tokenizer, t->bytes, t->n_bytes, flags, t->ids, most, &t->n_ids,
                             scratch, scratch_bytes);
    }
    free(scratch);
    if (e != ERR_OK) {
        fprintf(stderr, "ingot: the text cannot be tokenized: %s\n", err_text(e));
    }
    return e == ERR_OK;
}
