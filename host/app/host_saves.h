/* Files that the application writes on this computer (struct app_files). */
#ifndef INGOT_HOST_HOST_SAVES_H
#define INGOT_HOST_HOST_SAVES_H

#include "host/app/host_files.h"

/* ---- members of struct app_files; context is a struct host_files ---- */

enum err host_saves_find(void *context, const char *name, uint64_t bytes, const struct file **file);
enum err host_saves_find_kv(void *context, const struct file **file);
enum err host_saves_find_prefix(void *context, uint64_t bytes, const struct file **file);
enum err host_saves_find_use(void *context, uint64_t bytes, const struct file **file);
enum err host_saves_find_log(void *context, const struct file **file);
enum err host_saves_end(void *context, bool good);

/* If a save has not ended, remove the file that was made for it. */
void host_saves_drop(struct host_files *h);

#endif
