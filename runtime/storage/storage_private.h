/* Shared only by storage*.c. */
#ifndef INGOT_RUNTIME_STORAGE_PRIVATE_H
#define INGOT_RUNTIME_STORAGE_PRIVATE_H

#include "runtime/storage/storage.h"

/* Set s->error_message; returns e. */
__attribute__((format(printf, 3, 4))) enum err storage_fail(struct storage *s, enum err e,
                                                            const char *format, ...);

/* The same for an error of the mounted card's file system. */
enum err storage_card_error_message(struct storage *s, const struct block_device *device,
                                    enum err e);

/* Whether a file shares no clusters with one in use (storage_know_open). ERR_BAD_FILESYSTEM:
 * s->error_message. */
enum err storage_check_apart(struct storage *s, const struct file *f);

/* A line for the log. */
__attribute__((format(printf, 2, 3))) void storage_say(struct storage *s, const char *format, ...);

struct file_timeout storage_timeout(const struct storage *s);

/* A device without a file system: it holds one .ingot from its first byte on. */
bool storage_is_raw(const struct block_device *d);

/* The first device from number *i on with a file system, mounted; *i becomes the number after
 * it. NULL: no more; s->error_message is about the last one, if it has none. */
struct block_device *storage_mount_next(struct storage *s, unsigned *i);

/* "usb:", a prefix of the names of models on such a device. */
const char *storage_place(enum block_kind kind);

/* The order in which models are looked for. */
unsigned storage_rank(const struct block_device *d);

/* storage_first.c: on the mounted card, open the first file of models/ by name that is a model.
 * Files before it that are not models, and files for other programs, are logged with what to do.
 * ERR_NOT_FOUND: there is none; ERR_BAD_MAGIC: none is a model, and s->error_message says what
 * the first one is. A file of an unknown kind is opened anyway. Errors of the card. */
enum err storage_find_first(struct storage *s, const struct file_table *table, struct file *out);

/* storage_devices.c: find the platform's devices, log them, and put what each needs in its
 * place. */
void storage_open_devices(struct storage *s);

/* Visit the models of one of the drivers' devices, with its place before each name. */
enum err storage_list_device(struct storage *s, const struct block_device *device,
                             storage_visit_fn *visit, void *context);

#endif
