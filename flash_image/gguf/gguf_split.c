/* Finds which part of a split model a file is, by its values and by its name. The two must agree,
 * because a part of another model would give a mixture of two models. */
#include <ctype.h>
#include <stdlib.h>

#include "flash_image/gguf/gguf_private.h"
#include "flash_image/gguf/gguf_split.h"

enum { DIGITS = 5 };

static const char ending[] = "-00001-of-00001.gguf"; /* with any digits */

const char *gguf_split_ending(const char *path)
{
    size_t n = strlen(path), m = sizeof ending - 1;
    const char *at;

    if (n < m) {
        return NULL;
    }
    at = path + n - m;
    for (size_t i = 0; i < m; i++) {
        bool digit = isdigit((unsigned char)ending[i]) != 0;

        if (digit ? isdigit((unsigned char)at[i]) == 0 : at[i] != ending[i]) {
            return NULL;
        }
    }
    return at;
}

/* Read the part's number and the count from the name; 0 and 0 if the name has none. */
static void read_name(const char *path, uint64_t *number, uint64_t *count)
{
    const char *at = gguf_split_ending(path);

    *number = *count = 0;
    if (at != NULL) {
        *number = strtoull(at + 1, NULL, 10);
        *count = strtoull(at + 1 + DIGITS + strlen("-of-"), NULL, 10);
    }
}

/* Check that the name (part `number` of `count`, from 1 on) agrees with the values (part + 1 of
 * n). */
static enum err check_name(struct source *s, uint64_t part, uint64_t n)
{
    uint64_t number, count;

    read_name(s->path, &number, &count);
    if (count == 0) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "is part %llu of %llu of a split GGUF, but its name does not end in "
                             "-%05llu-of-%05llu.gguf, so the other parts cannot be found: give "
                             "all parts their original names",
                             (unsigned long long)part + 1, (unsigned long long)n,
                             (unsigned long long)part + 1, (unsigned long long)n);
    }
    if (number != part + 1 || count != n) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "is part %llu of %llu of a split GGUF according to its values, but "
                             "part %llu of %llu according to its name: fetch it again",
                             (unsigned long long)part + 1, (unsigned long long)n,
                             (unsigned long long)number, (unsigned long long)count);
    }
    return ERR_OK;
}

/* Refuse a file that has a part's name but lacks the values of a split: another tool made
 * it. */
static enum err check_single(struct source *s)
{
    uint64_t number, count;

    read_name(s->path, &number, &count);
    if (count <= 1) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_UNSUPPORTED,
                         "is part %llu of %llu by its name, but has no split.count: if it is a "
                         "whole model, rename it; if it is a part that llama-gguf-split did not "
                         "make, join the parts (cat)",
                         (unsigned long long)number, (unsigned long long)count);
}

static enum err check_counts(struct source *s, uint64_t part, uint64_t n)
{
    if (n > GGUF_MOST_PARTS) {
        return source_refuse(s, ERR_UNSUPPORTED,
                             "split.count is %llu; models of up to %u parts can be packed",
                             (unsigned long long)n, (unsigned)GGUF_MOST_PARTS);
    }
    if (part >= n) {
        return source_refuse(s, ERR_BAD_MODEL,
                             "split.no is %llu, not below split.count, which is %llu: fetch the "
                             "file again",
                             (unsigned long long)part, (unsigned long long)n);
    }
    return ERR_OK;
}

enum err gguf_find_split(struct source *s, const uint8_t *data, size_t bytes, size_t *part,
                         size_t *n)
{
    struct gguf g = { .s = s, .r = { data, bytes, false }, .file = data, .bytes = bytes };
    enum err e = gguf_read_header(&g);
    uint64_t number, count;

    *part = 0;
    *n = 1;
    if (e == ERR_OK) {
        e = gguf_skip_values(&g);
    }
    if (e != ERR_OK) {
        return e;
    }
    number = gguf_number_or(&g, N_SPLIT_PART, 0);
    count = gguf_number_or(&g, N_SPLIT_COUNT, 0);
    if (count <= 1) {
        return g.has_number[N_SPLIT_COUNT] ? ERR_OK : check_single(s);
    }
    e = check_counts(s, number, count);
    if (e == ERR_OK) {
        e = check_name(s, number, count);
    }
    *part = (size_t)number;
    *n = (size_t)count;
    return e;
}

enum err gguf_check_part(struct gguf *g, size_t i, size_t n)
{
    uint64_t number = gguf_number_or(g, N_SPLIT_PART, 0);
    uint64_t count = gguf_number_or(g, N_SPLIT_COUNT, 0);

    if (n == 1 && count <= 1) {
        return ERR_OK;
    }
    if (number != i || count != n) {
        return source_refuse(
            g->s, ERR_BAD_MODEL,
            "is part %llu of %llu of a split GGUF according to its values, but should be part %zu "
            "of %zu: fetch it again",
            (unsigned long long)number + 1, (unsigned long long)count, i + 1, n);
    }
    return ERR_OK;
}

/* If a later part also describes the model, check that it agrees with the first part. */
static enum err check_same_model(const struct gguf *g, struct gguf *part)
{
    struct source_text a = g->architecture, b = part->architecture;
    bool counted = part->has_number[N_SPLIT_TENSORS] && g->has_number[N_SPLIT_TENSORS];

    if (b.data != NULL && (a.bytes != b.bytes || memcmp(a.data, b.data, a.bytes) != 0)) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "is a part of another model: its architecture is '%.*s', but that of "
                             "the first part is '%.*s'",
                             SOURCE_SHOW(b), SOURCE_SHOW(a));
    }
    if (counted && part->number[N_SPLIT_TENSORS] != g->number[N_SPLIT_TENSORS]) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "is a part of another model: split.tensors.count is %llu, but %llu in "
                             "the first part",
                             (unsigned long long)part->number[N_SPLIT_TENSORS],
                             (unsigned long long)g->number[N_SPLIT_TENSORS]);
    }
    return ERR_OK;
}

enum err gguf_open_part(struct gguf *g, const struct gguf_part *part, size_t i, size_t n)
{
    struct gguf p = {
        .s = g->s, .r = { part->data, part->bytes, false }, .file = part->data, .bytes = part->bytes
    };
    enum err e;

    if (!gguf_is(part->data, part->bytes)) {
        return source_refuse(g->s, ERR_BAD_MODEL,
                             "is not a GGUF, but should be part %zu of %zu: fetch it again", i + 1,
                             n);
    }
    e = gguf_read_header(&p);
    if (e == ERR_OK) {
        e = gguf_skip_values(&p);
    }
    if (e == ERR_OK) {
        e = gguf_check_part(&p, i, n);
    }
    if (e == ERR_OK) {
        e = check_same_model(g, &p);
    }
    g->r = p.r;
    g->file = p.file;
    g->bytes = p.bytes;
    g->n_tensors = p.n_tensors;
    g->number[N_ALIGNMENT] = p.number[N_ALIGNMENT];
    g->has_number[N_ALIGNMENT] = p.has_number[N_ALIGNMENT];
    return e;
}
