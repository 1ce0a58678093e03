/* Writes the storage's log lines and error messages. */
#include "runtime/storage/storage_private.h"

#include <stdarg.h>
#include <string.h>

#include "runtime/text/format_text.h"

enum { LINE_BYTES = 256 };

void storage_say(struct storage *s, const char *format, ...)
{
    char line[LINE_BYTES];
    va_list args;

    if (s->setup.log == NULL) {
        return;
    }
    va_start(args, format);
    (void)format_text_args(line, sizeof line, format, args);
    va_end(args);
    s->setup.log(s->setup.context, line);
}

enum err storage_fail(struct storage *s, enum err e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)format_text_args(s->error_message, sizeof s->error_message, format, args);
    va_end(args);
    return e;
}

static bool contains(const char *text, const char *part)
{
    while (*text != '\0' && strncmp(text, part, strlen(part)) != 0) {
        text++;
    }
    return *text != '\0';
}

/* Return true if a message about a file system says what is wrong, but not what to do. */
static bool lacks_cure(const char *why)
{
    static const char *const cures[] = { "fsck", "format", "partition the", "write the card",
                                         "again" };

    for (size_t i = 0; i < sizeof cures / sizeof cures[0]; i++) {
        if (contains(why, cures[i])) {
            return false;
        }
    }
    return true;
}

/* Give the cause in the file system's words. The error's own text follows only if the device
 * reported the error. */
enum err storage_card_error_message(struct storage *s, const struct block_device *device,
                                    enum err e)
{
    const char *why = s->fs.why;

    if (why == NULL) {
        return storage_fail(s, e, "%s: %s", device->name, err_text(e));
    }
    if (e == ERR_IO || e == ERR_TIMEOUT || e == ERR_REMOVED) {
        return storage_fail(s, e, "%s: %s: %s", device->name, why, err_text(e));
    }
    if (e == ERR_BAD_FILESYSTEM && lacks_cure(why)) {
        return storage_fail(s, e, "%s: %s: check it with %s, or write the card again", device->name,
                            why, s->fs.is_exfat ? "fsck.exfat" : "fsck.vfat");
    }
    return storage_fail(s, e, "%s: %s", device->name, why);
}
