/* Makes the error message for an error of a transfer. */
#include "runtime/stream/stream_private.h"
#include "runtime/text/format_text.h"

enum err stream_name_part(struct stream *s, const struct file *file, const char *part,
                          const struct file_read *read, enum err e, const char *why)
{
    char where[96] = "";

    if (read != NULL && (e == ERR_IO || e == ERR_TIMEOUT)) {
        format_text(where, sizeof where, ", sector %lu of %s", (unsigned long)read->failed_sector,
                    file->device->name);
    }
    format_text(s->error_message, sizeof s->error_message, "%.100s: %s%s: %s", file->name, part,
                where, why);
    return e;
}

/* The message for a wrong checksum also names the expert's first sector. */
void stream_name_expert(struct stream *s, uint32_t layer, uint32_t expert,
                        const struct file_read *read, enum err e)
{
    char part[96];
    size_t n = format_text(part, sizeof part, "layer %u, expert %u", (unsigned)layer,
                           (unsigned)expert);

    if (e == ERR_BAD_CHECKSUM) {
        (void)format_text(part + n, sizeof part - n, ", sector %lu of %s",
                          (unsigned long)file_sector(s->file, read->offset), s->file->device->name);
    }
    (void)stream_name_part(s, s->file, part, read, e, block_device_reason(s->file->device, e));
}

enum err stream_name_error_message(struct stream *s, unsigned segment, const struct file_read *read,
                                   enum err e)
{
    char part[32];

    image_segment_name(s->image, segment, part, sizeof part);
    return stream_name_part(s, s->file, part, read, e, block_device_reason(s->file->device, e));
}
