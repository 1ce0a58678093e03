/* The source of the application's files: the cards and the flash of a board (app_storage.h), or the
 * folders of a computer (host/). Filled once, by who owns the files. */
#ifndef INGOT_RUNTIME_APP_FILES_H
#define INGOT_RUNTIME_APP_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "board/err.h"
#include "flash_image/format/format.h"
#include "runtime/model/model.h"
#include "runtime/storage/file.h"
#include "runtime/storage/storage.h"

enum app_file {
    APP_MODEL,
    APP_MODEL_BEFORE, /* the one that the last APP_MODEL took the place of */
    APP_DRAFT,
};

/* Each function gets `context` first; one that is NULL is not there, where its comment says so. After
 * an error problem() has an error message for the user. */
struct app_files {
    void *context;
    const char *(*error_message)(void *context);

    /* Resolve a model to *file, in place of the one that was asked for so before: nothing of it is
     * read any more. name: "" the first there is. */
    enum err (*find_model)(void *context, enum app_file which, const char *name,
                           const struct file **file);
    /* The names by which /model may call the model that was found last; asked: what it was called then. */
    const char *(*model_name)(void *context, const char *asked);
    /* Whether a name is one of a model, asked before the current one is given up. NULL: it is found
     * when it is looked for. */
    enum err (*check_model)(void *context, const char *name);
    /* Visit the models that there are. NULL: there are no others. */
    enum err (*list_models)(void *context, storage_visit_fn *visit, void *visit_context);

    /* Resolve an adapter (LoRA) by name to *file, which is read before another is asked for; visit those
     * that there are, sorted by name. NULL: there never are any. */
    enum err (*find_adapter)(void *context, const char *name, const struct file **file);
    enum err (*list_adapters)(void *context, storage_visit_fn *visit, void *visit_context);

    /* A compiled grammar by name, to memory (INGOT_GRAMMAR_BYTES, 16-byte aligned); *bytes of it. NULL: there
     * never are any. */
    enum err (*read_grammar)(void *context, const char *name, void *memory, size_t *bytes);

    /* The text presets/NAME.txt, to text (room, a multiple of 512, 16-byte aligned), NUL-terminated. NULL: there
     * never are any. */
    enum err (*read_preset)(void *context, const char *name, char *text, size_t room);

    /* The same for actions/NAME.txt. */
    enum err (*read_actions)(void *context, const char *name, char *text, size_t room);

    /* The file that holds a saved conversation. bytes: to save in it, where a file of any length can
     * be had one that will do for good; 0: to load. NULL: there is no place for any. */
    enum err (*find_save)(void *context, const char *name, uint64_t bytes,
                          const struct file **file);
    /* The file that keys and values spill to. *file NULL: none, which a plan alone does not need. */
    enum err (*find_kv)(void *context, const struct file **file);

    /* The file of the prefix (runtime/features/prefix/chat_prefix.h). bytes: to save so many, 0 to load. *file NULL:
     * there is none to load. NULL: there never is. */
    enum err (*find_prefix)(void *context, uint64_t bytes, const struct file **file);

    /* The file NAME.use of the model that was found last (runtime/stream/expert_use.h). bytes: to save so
     * many, 0 to read. NULL: there never is. */
    enum err (*find_use)(void *context, uint64_t bytes, const struct file **file);

    /* The file of find_save, find_prefix or find_use is written, or (good false) stays as it was. ERR_IO: it is not
     * kept, and problem() says why. NULL: there is nothing to do. */
    enum err (*end_save)(void *context, bool good);

    /* The file that turns are logged in. NULL: there never is. */
    enum err (*find_log)(void *context, const struct file **file);

    /* The file of kept prompts (runtime/saved/kept.h). NULL: there never is. */
    enum err (*find_kept)(void *context, const struct file **file);

    /* Room for a file (bytes) at a path such as models/NAME.ingot, and, once it is written, that it is there (storage_new.h).
     * NULL: none is made so. */
    enum err (*new_file)(void *context, const char *path, uint64_t bytes, const struct file **file);
    enum err (*publish_file)(void *context);

    /* Another chat section than the planned model's own, or NULL in *chat. NULL: never. */
    enum err (*choose_chat)(void *context, struct model *model, const struct ingot_chat **chat);
};

#endif
