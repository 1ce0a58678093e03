/* GGUF files that are no whole model of text: a part of one, an adapter, the image part. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "flash_image/gguf/gguf_private.h"

enum { NAME_BYTES = 160, DIGITS = 5 };

static const char ending[] = "-00001-of-00001.gguf"; /* with any digits */

/* By general.type or, where that is NULL, by general.architecture. */
static const struct {
    const char *type, *architecture;
    const char *what, *cure;
} kinds[] = {
    { "adapter", NULL, "an adapter (LoRA), not a model",
      "merge it into its base model: llama-export-lora -m BASE.gguf --lora ADAPTER.gguf -o "
      "MERGED.gguf" },
    { "mmproj", NULL, "the image part (mmproj) of a vision-language model",
      "give the GGUF of its text model" },
    { NULL, "clip", "the image part (mmproj) of a vision-language model",
      "give the GGUF of its text model" },
    { "imatrix", NULL, "an importance matrix, not a model", "give the model's own GGUF" },
    { NULL, "controlvector", "a control vector, not a model", "give the model's own GGUF" },
};

/* Where the ending "-00002-of-00003.gguf" begins, or NULL. */
static const char *split_ending(const char *path)
{
    size_t n = strlen(path), m = sizeof ending - 1;
    const char *at = path + n - m;

    if (n < m) {
        return NULL;
    }
    for (size_t i = 0; i < m; i++) {
        bool digit = isdigit((unsigned char)ending[i]) != 0;

        if (digit ? isdigit((unsigned char)at[i]) == 0 : at[i] != ending[i]) {
            return NULL;
        }
    }
    return at;
}

/* The names of the first part and of the whole, for a command line. */
static enum err refuse_part(struct gguf *g, const char *at, uint64_t part, uint64_t count)
{
    char first[NAME_BYTES] = "FIRST-PART.gguf", whole[NAME_BYTES] = "WHOLE.gguf";

    if (at != NULL) {
        int stem = (int)(at - g->s->path);

        snprintf(first, sizeof first, "%.*s-%0*d%s", stem, g->s->path, DIGITS, 1, at + 1 + DIGITS);
        snprintf(whole, sizeof whole, "%.*s.gguf", stem, g->s->path);
    }
    return source_refuse(g->s, ERR_UNSUPPORTED,
                         "is part %llu of %llu of a split GGUF; join the parts: llama-gguf-split "
                         "--merge %s %s",
                         (unsigned long long)part, (unsigned long long)count, first, whole);
}

/* Its values say so, or, where it has none of them, its name. */
static enum err check_split(struct gguf *g)
{
    const char *at = split_ending(g->s->path);
    uint64_t count = g->number[N_SPLIT_COUNT];

    if (count > 1) {
        return refuse_part(g, at, g->number[N_SPLIT_PART] + 1, count);
    }
    if (at != NULL && !g->has_number[N_SPLIT_COUNT]) {
        count = strtoull(at + 1 + DIGITS + strlen("-of-"), NULL, 10);
    }
    if (count > 1) {
        return refuse_part(g, at, strtoull(at + 1, NULL, 10), count);
    }
    return ERR_OK;
}

enum err gguf_check_kind(struct gguf *g)
{
    enum err e = check_split(g);

    for (size_t i = 0; e == ERR_OK && i < sizeof kinds / sizeof kinds[0]; i++) {
        struct source_text of = g->type;
        const char *name = kinds[i].type;

        if (name == NULL) {
            of = g->architecture;
            name = kinds[i].architecture;
        }
        if (source_text_is(of, name)) {
            return source_refuse(g->s, ERR_UNSUPPORTED, "is %s; %s", kinds[i].what, kinds[i].cure);
        }
    }
    return e;
}
