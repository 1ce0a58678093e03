/* Refuses GGUF files that are not text models, such as an adapter or the image part of a model. */
#include "flash_image/gguf/gguf_private.h"

/* A file is of a row's kind if its general.type is the row's type. If the row's type is NULL,
 * general.architecture decides. */
static const struct {
    const char *type, *architecture;
    const char *what, *cure;
} kinds[] = {
    { "adapter", NULL, "an adapter (LoRA), not a model",
      "pack it for its packed base with `ingot adapter`, or merge it into its base: "
      "llama-export-lora -m BASE.gguf --lora ADAPTER.gguf -o MERGED.gguf" },
    { "mmproj", NULL, "the image part (mmproj) of a vision-language model",
      "give the GGUF of its text model" },
    { NULL, "clip", "the image part (mmproj) of a vision-language model",
      "give the GGUF of its text model" },
    { "imatrix", NULL, "an importance matrix, not a model", "give the model's own GGUF" },
    { NULL, "controlvector", "a control vector, not a model", "give the model's own GGUF" },
};

enum err gguf_check_kind(struct gguf *g)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
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
    return ERR_OK;
}
