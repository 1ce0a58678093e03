/* Any reply, in portions whose lengths its first byte gives: what is shown and what is to be done
 * do not depend on the cuts; no known tag is shown; what is to be done is within its bounds. */
#include <stdlib.h>
#include <string.h>

#include "runtime/features/memory_tags/memory_tags.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct text {
    char *bytes;
    size_t n, room;
    struct memory_tags *tags;
};

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void keep(void *context, const char *text, size_t bytes)
{
    struct text *to = context;

    must(bytes != 0 && bytes <= to->room - to->n);
    memcpy(to->bytes + to->n, text, bytes);
    to->n += bytes;
}

static void add(void *context, const struct hidden_tag *tag)
{
    memory_tags_add(((struct text *)context)->tags, tag);
}

static struct text shown(struct memory_tags *t, const uint8_t *data, size_t size, size_t portion)
{
    struct text to = { malloc(size + 1), 0, size, t };
    struct hidden_tags hidden = { .write = keep, .tag = add, .context = &to };

    must(to.bytes != NULL);
    memset(t, 0, sizeof *t);
    for (size_t i = 0; i < size; i += portion) {
        hidden_tags_write(&hidden, (const char *)data + i, size - i < portion ? size - i : portion);
    }
    hidden_tags_end(&hidden);
    to.bytes[to.n] = '\0';
    return to;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct memory_tags whole, parts;
    struct text a = shown(&whole, data, size, size + 1);

    for (size_t portion = 1; portion < 12; portion += 1 + (size != 0 ? data[0] % 5u : 0)) {
        struct text b = shown(&parts, data, size, portion);

        must(a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0);
        must(whole.n == parts.n && whole.refused == parts.refused);
        must(memcmp(whole.operations, parts.operations, sizeof whole.operations) == 0);
        free(b.bytes);
    }
    must(whole.n <= MEMORY_TAGS_OPERATIONS);
    for (uint32_t i = 0; i < whole.n; i++) {
        const struct memory_operation *o = &whole.operations[i];

        must(o->space < FABRIC_SPACES && o->bytes <= FABRIC_TEXT_BYTES);
        must((o->tag == MEMORY_STORE) == (o->bytes != 0) && o->tag <= MEMORY_FORGET);
    }
    free(a.bytes);
    return 0;
}
