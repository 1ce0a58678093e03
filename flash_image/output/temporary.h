/* Files that are there for a while under names that nobody has. Those that are left are removed when a
 * signal ends the program, and by the process alone that made them. */
#ifndef INGOT_FLASH_IMAGE_TEMPORARY_H
#define INGOT_FLASH_IMAGE_TEMPORARY_H

#include <stdbool.h>
#include <stddef.h>

/* Make an empty file with the rights that the umask leaves. beside: its folder is the one of this path; NULL: $TMPDIR, or
 * /tmp. Its name goes to path (bytes). Returns the file, open for reading and writing; -1: errno. */
int temporary_file(const char *beside, char *path, size_t bytes);

/* The same for a folder under $TMPDIR, or /tmp, which only the user can enter. False: errno. */
bool temporary_folder(char *path, size_t bytes);

/* Another program will make a file of this name, which is removed like the others. False: no memory. */
bool temporary_expect(const char *path);

/* Remove the file or the (empty) folder. NULL and names that temporary_* did not give are left alone. */
void temporary_remove(const char *path);

/* The file has another name now. */
void temporary_forget(const char *path);

/* Remove what this process made, from a signal handler or in front of _exit(). */
void temporary_remove_all(void);

/* From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGXCPU (ulimit -t) remove what is left, then end the program as they would
 * without this. A signal that is ignored, as after nohup, stays so. */
void temporary_watch_signals(void);

#endif
