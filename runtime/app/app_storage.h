/* The application's files on a board: initrd, cards and flash (runtime/storage/storage.h). */
#ifndef INGOT_RUNTIME_APP_STORAGE_H
#define INGOT_RUNTIME_APP_STORAGE_H

#include "runtime/app/app.h"
#include "runtime/storage/storage.h"
#include "runtime/storage/storage_new.h"

/* The files that can be in use at the same time, each with a table of its extents. */
enum { APP_STORAGE_MODEL, APP_STORAGE_DRAFT, APP_STORAGE_SAVE, APP_STORAGE_KV, APP_STORAGE_FILES };
enum {
    APP_STORAGE_OPEN = APP_STORAGE_FILES + 3
}; /* with the files of the log, of expert use and of kept prompts, which need no table */

struct app_storage {
    struct app_files files; /* the application's files; their context is this struct */
    struct storage storage;
    struct file file[APP_STORAGE_FILES];
    struct file_table tables[APP_STORAGE_FILES];
    struct storage_new new;
    struct file log, use, kept;                /* files that have few extents and need no table */
    const struct file *open[APP_STORAGE_OPEN]; /* all of these */
};

/* Find the platform's devices, log them, and fill s->files. The application must be started but not
 * open, because the tables of extents are cut from its memory. Call once; s must not move.
 * ERR_NO_SPACE: the memory is too small for the tables. */
enum err app_storage_open(struct app_storage *s, struct app *a);

/* Call repeatedly while a person is at a prompt: runs storage_look with the files in use, and says
 * what to do if no model is loaded. Returns true if lines were logged. */
bool app_storage_look(struct app_storage *s, struct app *a);

#endif
