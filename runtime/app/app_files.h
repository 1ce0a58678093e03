/* The source of the application's files: the cards and the flash of a board (app_storage.h), or
 * the folders of a computer (host/). The owner of the files fills this struct once. */
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
    APP_MODEL_BEFORE, /* the model that the last change of model replaced */
    APP_DRAFT,
};

/* Each function gets `context` as its first argument. A function may be NULL if its comment says
 * so. After an error, error_message() has the message for the user. */
struct app_files {
    void *context;
    const char *(*error_message)(void *context);

    /* Resolve a model to *file. The file of the previous model is not read any more. The name ""
     * means the first model. */
    enum err (*find_model)(void *context, enum app_file which, const char *name,
                           const struct file **file);
    /* Return the name by which /model knows the model found last; `asked` is the name
     * by which find_model found it. */
    const char *(*model_name)(void *context, const char *asked);
    /* Check a model's name before the current model is closed. NULL if find_model makes this
     * check. */
    enum err (*check_model)(void *context, const char *name);
    /* Visit the available models. NULL if there is only the current model. */
    enum err (*list_models)(void *context, storage_visit_fn *visit, void *visit_context);

    /* Resolve an adapter (LoRA) by name to *file, which is read before the next one is resolved;
     * visit the adapters, sorted by name. NULL if adapters are not supported. */
    enum err (*find_adapter)(void *context, const char *name, const struct file **file);
    enum err (*list_adapters)(void *context, storage_visit_fn *visit, void *visit_context);

    /* Read a compiled grammar by name into memory (INGOT_GRAMMAR_BYTES, 16-byte aligned) and set
     * *bytes. NULL if grammars are not supported. */
    enum err (*read_grammar)(void *context, const char *name, void *memory, size_t *bytes);

    /* Read presets/NAME.txt to text (room, a multiple of 512, 16-byte aligned), NUL-terminated.
     * NULL if presets are not supported. */
    enum err (*read_preset)(void *context, const char *name, char *text, size_t room);

    /* Like read_preset, for actions/NAME.txt. */
    enum err (*read_actions)(void *context, const char *name, char *text, size_t room);

    /* Find the file of a saved conversation. bytes: the size to save, or 0 to load. If the owner
     * can make files of any length, the file is always long enough. NULL if conversations cannot
     * be saved. */
    enum err (*find_save)(void *context, const char *name, uint64_t bytes,
                          const struct file **file);
    /* Find the file to which keys and values spill. *file is NULL if there is none; a plan is
     * possible without it. */
    enum err (*find_kv)(void *context, const struct file **file);

    /* Find the file of the prefix (runtime/features/prefix/chat_prefix.h). bytes: the size to save,
     * or 0 to load. *file is NULL if there is none to load. NULL if prefixes cannot be saved. */
    enum err (*find_prefix)(void *context, uint64_t bytes, const struct file **file);

    /* Find the file NAME.use of the model found last (runtime/stream/expert_use.h). bytes: the size
     * to save, or 0 to read. NULL if not supported. */
    enum err (*find_use)(void *context, uint64_t bytes, const struct file **file);

    /* End the save of a file from find_save, find_prefix or find_use: it is complete or, if
     * `good` is false, keeps its old content. ERR_IO: the file was not saved, and error_message()
     * says why. NULL if nothing has to be done. */
    enum err (*end_save)(void *context, bool good);

    /* Find the file in which turns are logged. NULL if turns cannot be logged. */
    enum err (*find_log)(void *context, const struct file **file);

    /* Find the file of kept prompts (runtime/saved/kept.h). NULL if prompts cannot be kept. */
    enum err (*find_kept)(void *context, const struct file **file);

    /* Check that a file of find_log or find_kept is still where it was found. Otherwise the card was
     * changed on a computer, and writing the file would damage another one: error_message() says
     * so. NULL if files cannot move. */
    enum err (*check_place)(void *context, const struct file *file);

    /* Reserve room for a file (bytes) at a path such as models/NAME.ingot, and publish it once
     * it is written (storage_new.h). NULL if files cannot be made. */
    enum err (*new_file)(void *context, const char *path, uint64_t bytes, const struct file **file);
    enum err (*publish_file)(void *context);

    /* Set *chat to a chat section that replaces the chat section of the planned model, or to NULL.
     * If the function is NULL, the chat section of the model is always used. */
    enum err (*choose_chat)(void *context, struct model *model, const struct ingot_chat **chat);
};

#endif
