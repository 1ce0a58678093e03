/* The application's files on this computer: finds models by path or by a name of /models, packs
 * other formats, and maps files or reads them at a card's rate. */
#ifndef INGOT_HOST_HOST_FILES_H
#define INGOT_HOST_HOST_FILES_H

#include <stdbool.h>
#include <stdint.h>

#include "board/host/file_device.h"
#include "flash_image/output/output_file.h"
#include "flash_image/source/map_file.h"
#include "host/args/host_args.h"
#include "runtime/app/app_files.h"
#include "runtime/stream/expert_use.h"

enum { HOST_PATH_BYTES = 4096, HOST_ERROR_MESSAGE_BYTES = 1024 };

/* An open file, which is read or mapped. */
struct host_file {
    struct file_device device_state;
    struct block_device device;
    struct file file;
    struct mapping mapping; /* --mmap */
    bool open;
};

struct host_files {
    struct app_files files; /* functions for the application, whose context is this struct */
    const struct host_args *args;
    const struct platform *platform; /* the platform that waits for the files */
    struct host_file model, draft, kv, save, adapter, log, use;
    struct output_file made;      /* a new file for `save` or `use` */
    bool makes;                   /* true: `made` is the new file of this `save` or `use` */
    bool made_blank;              /* true: the file that `made` replaces has no contents to keep */
    char path[HOST_PATH_BYTES];   /* path of the model */
    char before[HOST_PATH_BYTES]; /* path of the previous model */
    uint8_t *vocabulary;          /* a copy of the vocabulary, if --template changes it */
    char error_message[HOST_ERROR_MESSAGE_BYTES];
};

/* Fill h->files; the model is args->model until another one is requested. args and platform must
 * outlive h. */
void host_files_open(struct host_files *h, const struct host_args *args,
                     const struct platform *platform);

/* Reads how often the experts of `model` were used, from a file next to the model. Returns false if
 * there is no such file. */
bool host_files_read_use(const char *model, const struct image *image, struct plan_use *use);

/* ---- for host_saves.c ---- */

__attribute__((format(printf, 3, 4))) enum err host_files_fail(struct host_files *h, enum err e,
                                                               const char *format, ...);
struct file_timeout host_files_timeout(const struct host_files *h);

/* Makes f->file from f->device; if `opened` is an error, reports that instead. path is for
 * messages. */
enum err host_files_begin(struct host_files *h, struct host_file *f, const char *path,
                          enum err opened);
void host_files_close(struct host_file *f);

#endif
