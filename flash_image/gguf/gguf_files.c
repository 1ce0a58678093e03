/* Opens the files of a model: one file, or all parts of a split model, found by name in the folder
 * of the given part. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flash_image/gguf/gguf.h"
#include "flash_image/gguf/gguf_split.h"
#include "flash_image/source/map_file.h"
#include "runtime/text/plural.h"

enum { MOST_NAMED = 3 };

struct gguf_files {
    size_t n;
    struct gguf_part parts[GGUF_MOST_PARTS];
    struct mapping maps[GGUF_MOST_PARTS];
    char *paths; /* paths of the parts, each of path_bytes */
    size_t path_bytes;
};

static enum err name_parts(struct gguf_files *f, struct source *s)
{
    size_t stem = (size_t)(gguf_split_ending(s->path) - s->path);

    f->path_bytes = strlen(s->path) + 1;
    f->paths = calloc(f->n, f->path_bytes);
    if (f->paths == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    for (size_t i = 0; i < f->n; i++) {
        char *path = f->paths + i * f->path_bytes;

        memcpy(path, s->path, stem);
        snprintf(path + stem, f->path_bytes - stem, "-%05zu-of-%05zu.gguf", i + 1, f->n);
        f->parts[i].path = path;
    }
    return ERR_OK;
}

/* List all missing parts at once, so that the user can fetch them together. */
static enum err check_all_there(const struct gguf_files *f, struct source *s)
{
    char names[256] = "";
    size_t missing = 0, used = 0;

    for (size_t i = 0; i < f->n; i++) {
        const char *path = f->parts[i].path, *slash = strrchr(path, '/');

        if (access(path, F_OK) == 0) {
            continue;
        }
        if (missing++ < MOST_NAMED) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%.72s",
                                     used != 0 ? ", " : "", slash != NULL ? slash + 1 : path);
        }
    }
    if (missing == 0) {
        return ERR_OK;
    }
    return source_refuse(s, ERR_NOT_FOUND,
                         "%zu of the model's %zu parts %s missing in its folder (%s%s): fetch %s "
                         "too",
                         missing, f->n, plural(missing, "is", "are"), names,
                         missing > MOST_NAMED ? ", ..." : "", plural(missing, "it", "them"));
}

static enum err map_parts(struct gguf_files *f, struct source *s, size_t n)
{
    enum err e = ERR_OK;

    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        e = map_file(s, f->parts[i].path, PLACE_GGUF_PART, &f->maps[i]);
        f->parts[i].data = f->maps[i].data;
        f->parts[i].bytes = f->maps[i].bytes;
    }
    return e;
}

static enum err open_parts(struct gguf_files *f, struct source *s, bool vocab_only)
{
    enum err e = name_parts(f, s);

    if (e == ERR_OK && !vocab_only) {
        e = check_all_there(f, s);
    }
    if (e == ERR_OK) {
        e = map_parts(f, s, vocab_only ? 1 : f->n);
    }
    if (e != ERR_OK) {
        return e;
    }
    s->path = f->parts[0].path;
    return gguf_parse_parts(s, f->parts, f->n, vocab_only);
}

enum err gguf_open(struct gguf_files **files, struct source *s, const struct mapping *given,
                   bool vocab_only)
{
    struct gguf_files *f = calloc(1, sizeof *f);
    size_t part;
    enum err e;

    *files = f;
    if (f == NULL) {
        return source_refuse(s, ERR_NO_SPACE, "out of memory");
    }
    e = gguf_find_split(s, given->data, given->bytes, &part, &f->n);
    if (e != ERR_OK) {
        return e;
    }
    if (f->n == 1) {
        return gguf_parse(s, given->data, given->bytes, vocab_only);
    }
    return open_parts(f, s, vocab_only);
}

void gguf_close(struct gguf_files *f)
{
    for (size_t i = 0; f != NULL && i < GGUF_MOST_PARTS; i++) {
        unmap_file(&f->maps[i]);
    }
    if (f != NULL) {
        free(f->paths);
    }
    free(f);
}
