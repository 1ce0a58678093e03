#include "flash_image/adapter/adapter.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/adapter/adapter_private.h"
#include "flash_image/gguf/gguf.h"
#include "flash_image/source/map_file.h"

struct adapter_raw *adapter_raw_of(struct adapter_build *b, const char *name, size_t bytes)
{
    struct adapter_raw *raw;

    for (size_t i = b->n_raws; i-- > 0;) { /* newest first: a pair's halves are often adjacent */
        raw = &b->raws[i];
        if (strlen(raw->name) == bytes && memcmp(raw->name, name, bytes) == 0) {
            return raw;
        }
    }
    if (b->n_raws == b->room) {
        size_t room = b->room != 0 ? 2 * b->room : 64;
        struct adapter_raw *more = realloc(b->raws, room * sizeof *more);

        if (more == NULL) {
            (void)source_refuse(b->s, ERR_NO_SPACE, "%s", err_text(ERR_NO_SPACE));
            return NULL;
        }
        b->raws = more;
        b->room = room;
    }
    raw = &b->raws[b->n_raws++];
    memset(raw, 0, sizeof *raw);
    memcpy(raw->name, name, bytes);
    return raw;
}

/* Set the parameters that select tensor names, from the base's tables. */
static void set_params(struct adapter_build *b)
{
    const struct image *base = b->o->base;
    struct source_params *p = &b->s->params;

    p->family = base->header->params.family;
    p->n_layers = base->header->params.n_layers;
    for (uint32_t i = 0; i < p->n_layers; i++) {
        const struct ingot_layer *l = image_layer(base, i);

        p->layers[i].mixer = l->mixer;
        p->layers[i].parallel = l->parallel;
        p->layers[i].ffn = l->ffn;
        p->layers[i].kv_layer = l->kv_layer;
        p->layers[i].n_kv_heads = l->n_kv_heads;
    }
}

bool adapter_is(const char *path)
{
    char magic[sizeof ADAPTER_MAGIC - 1];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* does not wait for a pipe's writer */
    bool is = fd >= 0 && read(fd, magic, sizeof magic) == (ssize_t)sizeof magic &&
              memcmp(magic, ADAPTER_MAGIC, sizeof magic) == 0;

    if (fd >= 0) {
        close(fd);
    }
    return is;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static enum err read_file(struct adapter_build *b, struct mapping *m)
{
    char why[320];
    enum err e = mapping_open(m, b->o->input, why, sizeof why);

    if (e != ERR_OK) {
        return source_refuse(b->s, e, "%s", why);
    }
    if (!file_kind_suits(PLACE_ADAPTER, m->data, m->bytes, why, sizeof why)) {
        return source_refuse(b->s, ERR_UNSUPPORTED, "%s", why);
    }
    if (!gguf_is(m->data, m->bytes)) {
        return source_refuse(
            b->s, ERR_UNSUPPORTED,
            "is not an adapter that can be read: give a GGUF, or a PEFT folder with "
            "adapter_config.json and adapter_model.safetensors");
    }
    return adapter_read_gguf(b, m->data, m->bytes);
}

static void free_all(struct adapter_build *b)
{
    for (size_t i = 0; i < b->n_made; i++) {
        free(b->made[i].a);
        free(b->made[i].b);
    }
    free(b->made);
    free(b->raws);
    free(b->s);
}

enum err adapter_make(const struct adapter_options *o, struct adapter_result *result,
                      char *error_message, size_t error_message_bytes)
{
    struct adapter_build b = { .o = o, .s = calloc(1, sizeof *b.s) };
    struct mapping m = { NULL, 0 };
    enum err e;

    if (b.s == NULL) {
        snprintf(error_message, error_message_bytes, "%s: %s", o->input, err_text(ERR_NO_SPACE));
        return ERR_NO_SPACE;
    }
    b.s->path = o->input;
    b.family = family_find((enum ingot_family)o->base->header->params.family);
    set_params(&b);
    if (is_folder(o->input)) {
        e = adapter_read_peft(&b, o->input);
    } else {
        e = read_file(&b, &m);
    }
    if (e == ERR_OK && b.n_made == 0) {
        e = source_refuse(b.s, ERR_BAD_MODEL, "holds no pair of matrices");
    }
    if (e == ERR_OK) {
        e = adapter_write(&b, result);
    }
    if (e != ERR_OK) {
        snprintf(error_message, error_message_bytes, "%s", b.s->error_message);
    }
    unmap_file(&m);
    free_all(&b);
    return e;
}
