/* Temporary files with unused names. When a signal ends the program, the remaining ones are
 * removed, but only by the process that made them. */
#ifndef INGOT_FLASH_IMAGE_TEMPORARY_H
#define INGOT_FLASH_IMAGE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Make an empty file with the permissions of the umask. beside: it is made in the folder of this
 * path; NULL: $TMPDIR, or /tmp. Its name goes to path (bytes). Returns the file, open for reading
 * and writing; -1: errno. */
int temporary_file(const char *beside, char *path, size_t bytes);

/* The same for a folder under $TMPDIR, or /tmp, that only the user can enter. False: errno. */
bool temporary_folder(char *path, size_t bytes);

/* Another program will make a file of this name, which is removed like the others. False: out of
 * memory. */
bool temporary_expect(const char *path);

/* Remove the file or the (empty) folder. Ignores NULL and names that temporary_* did not give. */
void temporary_remove(const char *path);

/* The file has been renamed. */
void temporary_forget(const char *path);

/* Remove the files of this process, from a signal handler or before _exit(). */
void temporary_remove_all(void);

/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU (ulimit -t) remove the remaining files,
 * then end the program as usual. A signal that is ignored, as after nohup, stays ignored. */
void temporary_watch_signals(void);

#endif
