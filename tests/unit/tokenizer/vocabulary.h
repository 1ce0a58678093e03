/* Builds the tokenizer section of an .ingot file in memory, for tests: from a list of tokens,
 * from a GGUF vocabulary, or from a llama2.c tokenizer. Allocates; the caller frees. */
#ifndef INGOT_TESTS_UNIT_VOCABULARY_H
#define INGOT_TESTS_UNIT_VOCABULARY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/format/format.h"

struct vocabulary_token {
    char *text;
    uint32_t bytes;
    float score;
    uint8_t type;
};

struct vocabulary {
    struct vocabulary_token *token;
    uint32_t n;
    uint32_t bos, eos, unk, flags;
};

static inline void *test_alloc(size_t bytes)
{
    void *p = calloc(1, bytes > 0 ? bytes : 1);

    if (p == NULL) {
        abort();
    }
    return p;
}

/* The whole file, or NULL when there is none. */
static inline uint8_t *test_read_file(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;

    if (f == NULL) {
        return NULL;
    }
    fseek(f, 0, SEEK_END);
    *bytes = (size_t)ftell(f);
    rewind(f);
    data = test_alloc(*bytes + 1);
    if (fread(data, 1, *bytes, f) != *bytes) {
        abort();
    }
    fclose(f);
    return data;
}

static inline const char *test_assets(void)
{
    const char *assets = getenv("INGOT_ASSETS");

    return assets != NULL ? assets : "../shared/models";
}

/* Copies the text with U+2581 as a space. */
static inline void vocabulary_set(struct vocabulary *v, uint32_t id, const char *text, size_t bytes,
                                  float score, uint8_t type)
{
    struct vocabulary_token *t = &v->token[id];

    free(t->text);
    *t = (struct vocabulary_token){ test_alloc(bytes + 1), 0, score, type };
    for (size_t i = 0; i < bytes; i++) {
        bool space = bytes - i >= 3 && memcmp(text + i, "\xe2\x96\x81", 3) == 0;

        t->text[t->bytes++] = space ? ' ' : text[i];
        i += space ? 2 : 0;
    }
}

static inline void vocabulary_free(struct vocabulary *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        free(v->token[i].text);
    }
    free(v->token);
}

static inline int vocabulary_compare(const void *a, const void *b)
{
    const struct vocabulary_token *x = *(const struct vocabulary_token *const *)a;
    const struct vocabulary_token *y = *(const struct vocabulary_token *const *)b;
    uint32_t least = x->bytes < y->bytes ? x->bytes : y->bytes;
    int order = memcmp(x->text, y->text, least);

    if (order != 0) {
        return order;
    }
    if (x->bytes != y->bytes) {
        return x->bytes < y->bytes ? -1 : 1;
    }
    return x < y ? -1 : x > y;
}

static inline uint32_t vocabulary_sort(const struct vocabulary *v, uint32_t *sorted)
{
    const struct vocabulary_token **list = test_alloc(v->n * sizeof *list);
    uint32_t n = 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < v->n; i++) {
        if ((v->token[i].type == INGOT_TOKEN_NORMAL || v->token[i].type == INGOT_TOKEN_USER) &&
            v->token[i].bytes > 0) {
            list[n++] = &v->token[i];
        }
    }
    qsort(list, n, sizeof *list, vocabulary_compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || list[i]->bytes != list[i - 1]->bytes ||
            memcmp(list[i]->text, list[i - 1]->text, list[i]->bytes) != 0) {
            sorted[kept++] = (uint32_t)(list[i] - v->token);
        }
    }
    free(list);
    return kept;
}

static inline uint32_t vocabulary_place(uint32_t *end, size_t bytes)
{
    uint32_t at = *end;

    *end += (uint32_t)((bytes + 3) & ~(size_t)3);
    return at;
}

/* The section, exactly as long as it must be, so that a sanitizer sees every byte beyond. */
static inline uint8_t *vocabulary_section(const struct vocabulary *v, size_t *section_bytes)
{
    struct ingot_tokenizer h = { .kind = INGOT_TOKENIZER_SPM,
                                 .flags = v->flags,
                                 .n_tokens = v->n,
                                 .bos = v->bos,
                                 .eos = v->eos,
                                 .unk = v->unk,
                                 .eot = INGOT_NO_TOKEN };
    uint32_t *sorted = test_alloc(v->n * sizeof *sorted);
    uint32_t end = sizeof h;
    uint8_t *s;
    uint32_t at = 0;

    h.n_sorted = vocabulary_sort(v, sorted);
    for (uint32_t i = 0; i < v->n; i++) {
        h.text_bytes += v->token[i].bytes;
        h.max_token_bytes = v->token[i].bytes > h.max_token_bytes ? v->token[i].bytes
                                                                  : h.max_token_bytes;
    }
    h.text_offsets = vocabulary_place(&end, (v->n + 1) * 4u);
    h.scores = vocabulary_place(&end, v->n * 4u);
    h.types = vocabulary_place(&end, v->n);
    h.sorted = vocabulary_place(&end, h.n_sorted * 4u);
    h.byte_tokens = vocabulary_place(&end, 256 * 4);
    h.text = end;
    *section_bytes = end + h.text_bytes;
    s = test_alloc(*section_bytes);
    memcpy(s, &h, sizeof h);
    memcpy(s + h.sorted, sorted, h.n_sorted * 4u);
    memset(s + h.byte_tokens, 0xff, 256 * 4);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct vocabulary_token *t = &v->token[i];

        memcpy(s + h.text_offsets + i * 4u, &at, 4);
        memcpy(s + h.scores + i * 4u, &t->score, 4);
        s[h.types + i] = t->type;
        memcpy(s + h.text + at, t->text, t->bytes);
        at += t->bytes;
        if (t->type == INGOT_TOKEN_BYTE) {
            memcpy(s + h.byte_tokens + strtoul(t->text + 3, NULL, 16) * 4, &i, 4);
        }
    }
    memcpy(s + h.text_offsets + v->n * 4u, &at, 4);
    free(sorted);
    return s;
}

/* ---- GGUF, as far as a vocabulary needs it; for files that are known to be sound ---- */

struct gguf_cursor {
    const uint8_t *at;
};

static inline uint64_t gguf_number(struct gguf_cursor *c, unsigned bytes)
{
    uint64_t value = 0;

    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static inline const char *gguf_string(struct gguf_cursor *c, size_t *bytes)
{
    const char *s;

    *bytes = (size_t)gguf_number(c, 8);
    s = (const char *)c->at;
    c->at += *bytes;
    return s;
}

static inline unsigned gguf_type_bytes(uint32_t type)
{
    static const uint8_t bytes[13] = { 1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8 };

    return bytes[type];
}

static inline void gguf_skip(struct gguf_cursor *c, uint32_t type, uint64_t n)
{
    size_t bytes;

    for (uint64_t i = 0; i < n; i++) {
        if (type == 8) {
            gguf_string(c, &bytes);
        } else {
            c->at += gguf_type_bytes(type);
        }
    }
}

static inline void gguf_read_array(struct gguf_cursor *c, struct vocabulary *v, const char *key)
{
    uint32_t type = (uint32_t)gguf_number(c, 4);
    uint64_t n = gguf_number(c, 8);
    size_t bytes;

    if (strncmp(key, "tokenizer.ggml.tokens", 21) == 0) {
        v->n = (uint32_t)n;
        v->token = test_alloc(n * sizeof *v->token);
        for (uint32_t i = 0; i < n; i++) {
            const char *text = gguf_string(c, &bytes);

            vocabulary_set(v, i, text, bytes, 0, INGOT_TOKEN_NORMAL);
        }
    } else if (strncmp(key, "tokenizer.ggml.scores", 21) == 0) {
        for (uint32_t i = 0; i < n; i++) {
            memcpy(&v->token[i].score, c->at + i * 4u, 4);
        }
        c->at += n * 4;
    } else if (strncmp(key, "tokenizer.ggml.token_type", 25) == 0) {
        for (uint32_t i = 0; i < n; i++) {
            v->token[i].type = c->at[i * 4u];
        }
        c->at += n * 4;
    } else {
        gguf_skip(c, type, n);
    }
}

/* False when the file is not there. */
static inline bool vocabulary_from_gguf(struct vocabulary *v, const char *path)
{
    size_t file_bytes;
    uint8_t *file = test_read_file(path, &file_bytes);
    struct gguf_cursor c = { file + 16 };
    uint64_t n_keys;

    if (file == NULL) {
        return false;
    }
    *v = (struct vocabulary){
        .bos = 1, .eos = 2, .unk = 0, .flags = INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX
    };
    n_keys = gguf_number(&c, 8);
    for (uint64_t i = 0; i < n_keys; i++) {
        size_t bytes;
        const char *key = gguf_string(&c, &bytes);
        uint32_t type = (uint32_t)gguf_number(&c, 4);

        if (type == 9) {
            gguf_read_array(&c, v, key);
        } else {
            gguf_skip(&c, type, 1);
        }
    }
    free(file);
    return true;
}

/* Makes a llama2.c tokenizer of n tokens: unk, bos, eos, 256 bytes, pieces. */
static inline bool vocabulary_from_llama2c(struct vocabulary *v, const char *path, uint32_t n)
{
    size_t file_bytes;
    uint8_t *file = test_read_file(path, &file_bytes);
    struct gguf_cursor c = { file + 4 };

    if (file == NULL) {
        return false;
    }
    *v = (struct vocabulary){
        .n = n, .bos = 1, .eos = 2, .unk = 0, .flags = INGOT_ADD_BOS | INGOT_ADD_SPACE_PREFIX
    };
    v->token = test_alloc(n * sizeof *v->token);
    for (uint32_t i = 0; i < n; i++) {
        float score;
        uint32_t bytes;
        uint8_t type = i == 0    ? INGOT_TOKEN_UNKNOWN
                       : i < 3   ? INGOT_TOKEN_CONTROL
                       : i < 259 ? INGOT_TOKEN_BYTE
                                 : INGOT_TOKEN_NORMAL;

        memcpy(&score, c.at, 4);
        c.at += 4;
        bytes = (uint32_t)gguf_number(&c, 4);
        vocabulary_set(v, i, (const char *)c.at, bytes, score, type);
        c.at += bytes;
    }
    free(file);
    return true;
}

#endif
