/* Finds files by name in the folder of a model. `beside` is the path of a file in the folder. Paths
 * have HOST_PATH_BYTES. */
#ifndef INGOT_HOST_HOST_FOLDER_H
#define INGOT_HOST_HOST_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "board/err.h"
#include "runtime/storage/storage.h"

/* Returns the length of the folder's path in `beside`, with the slash; 0: it is the current
 * folder. */
int host_folder_bytes(const char *beside);

/* Joins the folder, name and end. False: too long. */
bool host_folder_path(const char *beside, char *path, const char *name, const char *end);

/* Finds the path of a model by a name as in /models, with or without its ending, or by a path.
 * False: there is none. */
bool host_folder_find_model(const char *beside, const char *name, char *path);

/* Visit .ingot and .gguf files in the order of their names. ERR_IO, ERR_NOT_FOUND: an error message
 * in error_message (bytes). */
enum err host_folder_list_models(const char *beside, storage_visit_fn *visit, void *context,
                                 char *error_message, size_t bytes);

/* Finds the path of an adapter by a name as in /adapters (the file adapters/NAME.ingot), or by a
 * path. False: there is none. */
bool host_folder_find_adapter(const char *beside, const char *name, char *path);

/* Visit files adapters/NAME.ingot in the order of their names. */
void host_folder_list_adapters(const char *beside, storage_visit_fn *visit, void *context);

/* Finds the path of a grammar by its name (the file grammars/NAME.grammar), or by a path. False:
 * there is none. */
bool host_folder_find_grammar(const char *beside, const char *name, char *path);

/* Finds the path of a text by its name in a folder, such as presets/NAME.txt, or by a path. */
bool host_folder_find_text(const char *beside, const char *folder, const char *name, char *path);

/* True if path is a folder of models, and not a model itself (in Hugging Face's format). */
bool host_folder_is_of_models(const char *path);

/* Copies to path the first model by name in a folder of models; *count: their number. False:
 * as host_folder_list_models. */
bool host_folder_first_model(const char *folder, char *path, unsigned *count, char *error_message,
                             size_t bytes);

/* Makes a new file of this size; the disk allocates only what is written. Returns false
 * with errno, which is EEXIST if the file exists. */
bool host_folder_make_file(const char *path, uint64_t bytes);

#endif
