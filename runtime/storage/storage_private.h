/* Shared only by storage*.c. */
#ifndef INGOT_RUNTIME_STORAGE_PRIVATE_H
#define INGOT_RUNTIME_STORAGE_PRIVATE_H

#include "runtime/storage/storage.h"

/* Set s->error_message; returns e. */
__attribute__((format(printf, 3, 4))) enum err storage_fail(struct storage *s, enum err e,
                                                            const char *format, ...);

/* Set s->error_message for an error of the mounted card's file system. */
enum err storage_card_error_message(struct storage *s, const struct block_device *device,
                                    enum err e);

/* Check that a file shares no clusters with a file in use (storage_know_open). Return
 * ERR_BAD_FILESYSTEM if it shares any. */
enum err storage_check_apart(struct storage *s, const struct file *f);

/* Write a line to the log. */
__attribute__((format(printf, 2, 3))) void storage_say(struct storage *s, const char *format, ...);

struct file_timeout storage_timeout(const struct storage *s);

/* Return true if a device has no file system, but one .ingot from its first byte on. */
bool storage_is_raw(const struct block_device *d);

/* Mount the first device, from number *i on, that has a file system. *i becomes the next number.
 * Return NULL if no further device has one; s->error_message is then about the last device. */
struct block_device *storage_mount_next(struct storage *s, unsigned *i);

/* Return the prefix of models' names on a device of this kind, such as "usb:". */
const char *storage_place(enum block_kind kind);

/* Return the device's rank. Models are looked for on devices of lower rank first. */
unsigned storage_rank(const struct block_device *d);

/* storage_first.c: on the mounted card, open the first file of models/, in the order of names, that
 * is a model. Files before it that are not models, and files for other programs, are logged with
 * what to do. ERR_NOT_FOUND: the folder has no .ingot file. ERR_BAD_MAGIC: no file is a model;
 * s->error_message says what the first file is. If no file is a model and the kind of the first
 * file is unknown, that file is opened. Errors of the card. */
enum err storage_find_first(struct storage *s, const struct file_table *table, struct file *out);

/* storage_devices.c: find the platform's devices, log them, and put a bounce or an io_core
 * in front of devices that need it. */
void storage_open_devices(struct storage *s);

/* Visit the models of a driver's device, with the device's prefix before each name. */
enum err storage_list_device(struct storage *s, const struct block_device *device,
                             storage_visit_fn *visit, void *context);

#endif
