/* Small model files written by the tests themselves, and files as bytes. */
#ifndef INGOT_TESTS_UNIT_MODEL_FILES_H
#define INGOT_TESTS_UNIT_MODEL_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bytes {
    uint8_t *data;
    size_t n, room;
};

static inline void bytes_add(struct bytes *b, const void *data, size_t n)
{
    if (n == 0) {
        return;
    }
    if (b->n + n > b->room) {
        b->room = 2 * (b->n + n);
        b->data = realloc(b->data, b->room);
        if (b->data == NULL) {
            abort();
        }
    }
    memcpy(b->data + b->n, data, n);
    b->n += n;
}

static inline void bytes_u32(struct bytes *b, uint32_t v)
{
    bytes_add(b, &v, sizeof v);
}

static inline void bytes_u64(struct bytes *b, uint64_t v)
{
    bytes_add(b, &v, sizeof v);
}

static inline void bytes_f32(struct bytes *b, float v)
{
    bytes_add(b, &v, sizeof v);
}

static inline void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){ NULL, 0, 0 };
}

/* Writes a text in GGUF's form: a length of 64 bits, and the bytes. */
static inline void bytes_text(struct bytes *b, const char *text)
{
    bytes_u64(b, strlen(text));
    bytes_add(b, text, strlen(text));
}

static inline bool bytes_save(const struct bytes *b, const char *path)
{
    FILE *f = fopen(path, "wb");
    bool good = f != NULL && fwrite(b->data, 1, b->n, f) == b->n;

    return (f == NULL || fclose(f) == 0) && good;
}

/* Reads the whole file, or no bytes. */
static inline struct bytes bytes_load(const char *path)
{
    struct bytes b = { NULL, 0, 0 };
    FILE *f = fopen(path, "rb");
    uint8_t piece[4096];
    size_t n;

    while (f != NULL && (n = fread(piece, 1, sizeof piece, f)) != 0) {
        bytes_add(&b, piece, n);
    }
    if (f != NULL) {
        fclose(f);
    }
    return b;
}

/* Makes a folder for the test; folder_remove removes it. */
static char folder[64];

static inline const char *folder_path(const char *name)
{
    static char paths[8][160];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static inline bool folder_make(void)
{
    snprintf(folder, sizeof folder, "/tmp/ingot-test-XXXXXX");
    return mkdtemp(folder) != NULL;
}

/* Writes it into the folder, and frees it. */
static inline void save(const char *name, struct bytes b)
{
    if (!bytes_save(&b, folder_path(name))) {
        abort();
    }
    bytes_free(&b);
}

static inline void folder_remove(const char *const *names)
{
    for (; *names != NULL; names++) {
        unlink(folder_path(*names));
    }
    rmdir(folder);
}

/* The dimensions of a small llama: odd on purpose. */
struct shape {
    int32_t dim, hidden, n_layers, n_heads, n_kv_heads, vocab, context;
};
static const struct shape small_shape = { 24, 44, 2, 4, 2, 300, 16 };

/* Repeatable weights in about -1 .. 1. */
static inline float next_weight(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed * 0x1p-31f;
}

/* Writes a llama2.c checkpoint, version 0, with scaled weights. */
static inline struct bytes llama2c_make(const struct shape *s, bool tied, float scale)
{
    struct bytes b = { NULL, 0, 0 };
    int32_t kv = s->dim / s->n_heads * s->n_kv_heads;
    int64_t layer = s->dim * 2 + 2 * s->dim * s->dim + 2 * kv * s->dim + 3 * s->dim * s->hidden;
    int64_t n = s->vocab * s->dim + s->n_layers * layer + s->dim +
                s->context * (s->dim / s->n_heads) + (tied ? 0 : s->vocab * s->dim);
    struct shape written = *s;
    uint32_t seed = 7;

    written.vocab = tied ? s->vocab : -s->vocab;
    bytes_add(&b, &written, sizeof written);
    for (int64_t i = 0; i < n; i++) {
        bytes_f32(&b, scale * next_weight(&seed));
    }
    return b;
}

/* Writes llama2.c's tokenizer of n tokens: unk, bos, eos, 256 bytes, and then pieces. */
static inline struct bytes llama2c_make_tokenizer(uint32_t n)
{
    struct bytes b = { NULL, 0, 0 };

    bytes_u32(&b, 16);
    for (uint32_t id = 0; id < n; id++) {
        char text[16];

        if (id < 3) {
            snprintf(text, sizeof text, "%s", id == 0 ? "<unk>" : id == 1 ? "\n<s>\n" : "\n</s>\n");
        } else if (id < 259) {
            snprintf(text, sizeof text, "<0x%02X>", id - 3);
        } else {
            snprintf(text, sizeof text, "%s%c", id % 2 != 0 ? " " : "", (int)('A' + (id - 259)));
        }
        bytes_f32(&b, id < 259 ? 0.0f : -(float)id);
        bytes_u32(&b, (uint32_t)strlen(text));
        bytes_add(&b, text, strlen(text));
    }
    return b;
}

#endif
