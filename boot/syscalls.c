/* The functions that newlib expects from an operating system. They provide no memory and no
 * files: an accidental allocation fails when it is called, and the runtime uses struct platform
 * for input and output. */
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "board/board.h"
#include "boot/panic.h"

void *_sbrk(ptrdiff_t increment);
void _exit(int status) __attribute__((noreturn));
int _close(int file);
int _fstat(int file, struct stat *status);
int _isatty(int file);
off_t _lseek(int file, off_t offset, int whence);
int _read(int file, void *data, size_t bytes);
int _write(int file, const void *data, size_t bytes);
int _kill(int process, int signal);
int _getpid(void);

/* No heap, by design: all RAM belongs to the arena, which is sized before anything is loaded. */
void *_sbrk(ptrdiff_t increment)
{
    (void)increment;
    errno = ENOMEM;
    return (void *)-1;
}

void _exit(int status)
{
    board.power_off(status);
}

int _close(int file)
{
    (void)file;
    errno = EBADF;
    return -1;
}

int _fstat(int file, struct stat *status)
{
    (void)file;
    (void)status;
    errno = EBADF;
    return -1;
}

int _isatty(int file)
{
    (void)file;
    errno = ENOTTY;
    return 0;
}

off_t _lseek(int file, off_t offset, int whence)
{
    (void)file;
    (void)offset;
    (void)whence;
    errno = EBADF;
    return -1;
}

int _read(int file, void *data, size_t bytes)
{
    (void)file;
    (void)data;
    (void)bytes;
    errno = EBADF;
    return -1;
}

int _write(int file, const void *data, size_t bytes)
{
    (void)file;
    (void)data;
    (void)bytes;
    errno = EBADF;
    return -1;
}

/* abort() ends here. */
int _kill(int process, int signal)
{
    (void)process;
    panic("abort, signal %d", signal);
}

int _getpid(void)
{
    return 1;
}
