/* First the layout is made (header, tables, all sizes), then weights are written from start to end,
 * and last, at the file's start, header and sections with checksums. The result is read back with
 * the reader's own checks, so that the packer never writes a file that a board would refuse. */
#include "flash_image/pack/pack_write.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/pack/pack_auto.h"
#include "flash_image/pack/pack_private.h"
#include "flash_image/pack/pack_types.h"
#include "flash_image/quantize/synthetic_rows.h"
#include "flash_image/source/map_file.h"
#include "runtime/image/image.h"
#include "runtime/base/crc32c.h"

/* ---- writing --------------------------------------------------------------------------------- */

static const char *why_not_written(ssize_t written)
{
    if (written == 0) {
        return "no space left";
    }
    return strerror(errno);
}

static enum err write_all(struct writer *w, const uint8_t *data, size_t bytes, uint64_t at)
{
    while (bytes > 0) {
        ssize_t n = pwrite(w->fd, data, bytes, (off_t)at);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            snprintf(w->s->error_message, sizeof w->s->error_message,
                     "%.160s: cannot be written: %s", w->path, why_not_written(n));
            return ERR_IO;
        }
        data += n;
        bytes -= (size_t)n;
        at += (uint64_t)n;
    }
    return ERR_OK;
}

static bool is_zero(const uint8_t *data, size_t bytes)
{
    return bytes != 0 && data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0;
}

/* Return the length, at most n, of the run at data: of zeros if `zero`, else of other bytes. */
static size_t run_of(const uint8_t *data, size_t n, bool zero)
{
    size_t at = 0;

    while (at < n && is_zero(data + at, min_size(HOLE_BYTES, n - at)) == zero) {
        at += min_size(HOLE_BYTES, n - at);
    }
    return at;
}

/* Zeros are not written: unwritten bytes of a file read as zeros, and most disks use no space for
 * them. */
static enum err flush(struct writer *w)
{
    enum err e = ERR_OK;
    size_t at = 0;

    while (w->holes && e == ERR_OK && at < w->out_used) {
        size_t n;

        at += run_of(w->out + at, w->out_used - at, true);
        n = run_of(w->out + at, w->out_used - at, false);
        e = write_all(w, w->out + at, n, w->at - w->out_used + at);
        at += n;
    }
    if (!w->holes) {
        e = write_all(w, w->out, w->out_used, w->at - w->out_used);
    }
    w->out_used = 0;
    return e;
}

/* Append to the segment; zeros if data is NULL. */
static enum err append(struct writer *w, const uint8_t *data, uint64_t bytes)
{
    while (bytes > 0) {
        size_t n = (size_t)min_u64(bytes, OUT_BUFFER - w->out_used);
        uint8_t *to = w->out + w->out_used;

        if (data != NULL) {
            memcpy(to, data, n);
            data += n;
        } else {
            memset(to, 0, n);
        }
        w->crc = crc32c(w->crc, to, n);
        w->expert_crc = crc32c(w->expert_crc, to, n);
        w->out_used += n;
        w->at += n;
        bytes -= n;
        if (w->out_used == OUT_BUFFER && flush(w) != ERR_OK) {
            return ERR_IO;
        }
    }
    return ERR_OK;
}

const float *pack_importance(struct writer *w, const struct ingot_tensor *entry)
{
    const struct pack_options *o = w->options;
    enum ingot_role role = (enum ingot_role)entry->role;
    const float *of_columns = NULL;

    if (o->importance != NULL && image_role_is_matrix(role)) {
        of_columns = o->importance(o->importance_context, role, entry->layer);
    }
    if (of_columns == NULL) {
        return NULL;
    }
    memcpy(w->importance, of_columns, entry->cols * sizeof *of_columns);
    for (uint32_t c = entry->cols; c < entry->cols_padded; c++) {
        w->importance[c] = of_columns[0];
    }
    return w->importance;
}

static enum err refuse_tensor(struct source *s, const struct ingot_tensor *entry,
                              const char *error_message)
{
    char place[32] = "";

    if (entry->layer != INGOT_NO_LAYER) {
        snprintf(place, sizeof place, " of layer %u", entry->layer);
    }
    return source_refuse(s, ERR_BAD_MODEL, "the tensor %s%s %s", image_role_name(entry->role),
                         place, error_message);
}

/* Store the checksum of the token whose rows of the table have just been written. */
static void sum_table_row(struct writer *w, uint32_t row, size_t bytes)
{
    uint32_t first = w->header->experts.count - w->header->params.vocab; /* after the experts */
    uint32_t *crc = &w->expert_crcs[first + row / INGOT_TABLE_ROWS];

    if (row % INGOT_TABLE_ROWS == 0) {
        *crc = 0;
    }
    *crc = crc32c(*crc, w->rows.group, bytes);
}

/* True if a group of rows of a made-up tensor is all zeros, like the group before it. */
static bool is_as_before(const struct source_tensor *t, uint32_t row, uint32_t rows)
{
    return t->type == SOURCE_SYNTH && row >= rows && row + rows <= t->rows &&
           synthetic_rows_end(t, row - rows);
}

/* Write tensor t of a file to its position from the table. */
static enum err write_tensor(struct writer *w, struct ingot_tensor *entry,
                             const struct source_tensor *t)
{
    const uint8_t *kept = t->data;
    const char *error_message = NULL;
    size_t n = 0;

    w->rows.importance = pack_importance(w, entry);
    w->rows.loss = pack_report_loss(&w->report);
    rows_begin(source_tensor(w->s, (enum ingot_role)entry->role, entry->layer), entry, &w->rows);
    for (uint32_t row = 0; row < t->rows; row += entry->interleave) {
        uint32_t end = row + min_u32(t->rows - row, entry->interleave);

        if (!is_as_before(t, row, entry->interleave)) {
            n = rows_pack_group(t, (enum ingot_type)entry->type, row, &w->rows, &error_message);
        }
        if (n == 0) {
            return refuse_tensor(w->s, entry, error_message);
        }
        if (append(w, w->rows.group, n) != ERR_OK) {
            return ERR_IO;
        }
        if (entry->role == INGOT_PER_LAYER_EMBEDDING) {
            sum_table_row(w, row, n);
        }
        pack_report_progress(&w->report, w->at);
        if (t->stride == 0) { /* rows of a transposed matrix share all its pages */
            map_release(&kept, source_row_data(t, end), false);
        }
    }
    if (t->stride == 0) {
        map_release(&kept, source_row_data(t, t->rows), true);
    }
    return ERR_OK;
}

/* Write zeros up to the tensor's position, then the
 * tensor. */
static enum err write_entry(struct writer *w, struct ingot_tensor *entry,
                            const struct source_tensor *t, uint64_t start)
{
    enum err e = append(w, NULL, start + entry->offset - w->at);
    char why[PACK_REMARK_BYTES] = "";

    if (e != ERR_OK) {
        return e;
    }
    e = write_tensor(w, entry, t);
    if (w->options->report) { /* pack_type_remark may read the whole tensor */
        pack_type_remark(w->options, w->s, (enum ingot_role)entry->role, entry->layer, why,
                         sizeof why);
    }
    pack_report_tensor(&w->report, t, entry, why);
    return e;
}

/* Write the tensors of segment number `segment`, except those of experts. */
static enum err write_tensors(struct writer *w, uint32_t segment)
{
    bool tied = w->s->params.tied;
    enum err e = ERR_OK;

    for (uint32_t i = 0; e == ERR_OK && i < w->header->tensors.count; i++) {
        struct ingot_tensor *t = &w->tables.tensors[i];
        enum ingot_role role = (enum ingot_role)t->role;

        if (t->segment == segment && !image_role_is_expert(role) &&
            !(tied && role == INGOT_OUTPUT)) {
            e = write_entry(w, t, source_tensor(w->s, role, t->layer),
                            w->tables.segments[segment].offset);
        }
    }
    return e;
}

/* Write expert number `expert` of a layer, up to the end of its extent. */
static enum err write_expert(struct writer *w, const struct ingot_layer *l, uint32_t expert)
{
    uint64_t start = w->tables.segments[l->segment].offset + l->expert_offset +
                     expert * l->expert_bytes;
    enum err e = append(w, NULL, start - w->at);

    w->expert_crc = 0;
    for (uint32_t i = 0; e == ERR_OK && i < l->n_tensors; i++) {
        struct ingot_tensor *t = &w->tables.tensors[l->first_tensor + i];
        enum ingot_role role = (enum ingot_role)t->role;

        if (image_role_is_expert(role)) {
            struct source_tensor one = source_expert(source_tensor(w->s, role, t->layer), expert);

            e = write_entry(w, t, &one, start);
        }
    }
    if (e == ERR_OK) {
        e = append(w, NULL, start + l->expert_bytes - w->at);
    }
    w->expert_crcs[l->first_expert + expert] = w->expert_crc;
    return e;
}

static enum err write_experts(struct writer *w, const struct ingot_segment *x)
{
    const struct ingot_layer *l;
    enum err e = ERR_OK;

    if (x->kind != INGOT_SEGMENT_LAYER) {
        return ERR_OK;
    }
    l = &w->tables.layers[x->layer];
    for (uint32_t i = 0; e == ERR_OK && i < l->n_experts; i++) {
        e = write_expert(w, l, i);
    }
    return e;
}

/* Set the file's full size, because zeros at the end may have been skipped. */
static enum err set_size(struct writer *w)
{
    if (w->holes && ftruncate(w->fd, (off_t)w->header->file_bytes) != 0) {
        return source_refuse(w->s, ERR_IO, "%s: cannot be written: %s", w->path, strerror(errno));
    }
    return ERR_OK;
}

static enum err write_segments(struct writer *w)
{
    enum err e = ERR_OK;

    w->at = INGOT_PAGE + w->meta_bytes;
    pack_report_begin(&w->report, w->options, w->header->file_bytes);
    for (uint32_t i = 0; e == ERR_OK && i < w->header->segments.count; i++) {
        struct ingot_segment *x = &w->tables.segments[i];

        w->crc = 0;
        e = write_tensors(w, i);
        if (e == ERR_OK) {
            e = write_experts(w, x);
        }
        if (e == ERR_OK) {
            e = append(w, NULL, x->offset + x->bytes - w->at);
        }
        x->crc32c = w->crc;
    }
    if (w->s->params.tied) { /* copy FIG4's table, which was found when the embedding was written */
        struct ingot_tensor *output = w->tables.tensors + w->header->tensors.count - 1;

        while (output->role != INGOT_OUTPUT) { /* norms of an MTP head follow the output */
            output--;
        }
        memcpy(output->values, w->tables.tensors->values, sizeof output->values);
    }
    pack_report_end(&w->report, e == ERR_OK);
    if (e != ERR_OK) {
        return e;
    }
    e = flush(w);
    return e == ERR_OK ? set_size(w) : e;
}

static void seal_section(struct writer *w, struct ingot_section *s)
{
    s->crc32c = crc32c(0, w->meta + (s->offset - INGOT_PAGE), (size_t)s->bytes);
}

static enum err write_front(struct writer *w)
{
    struct ingot_header *h = w->header;
    struct image img;
    enum err e;

    seal_section(w, &h->tokenizer);
    seal_section(w, &h->chat);
    seal_section(w, &h->rope);
    seal_section(w, &h->layers);
    seal_section(w, &h->segments);
    seal_section(w, &h->tensors);
    seal_section(w, &h->experts);
    h->header_crc32c = crc32c(0, h, sizeof *h); /* the field must still be zero */
    e = image_check_header(&img, h, h->file_bytes);
    if (e == ERR_OK) {
        e = image_check_meta(&img, w->meta);
    }
    if (e != ERR_OK) {
        return source_refuse(w->s, e, "%s", img.error_message);
    }
    e = write_all(w, w->meta, (size_t)w->meta_bytes, INGOT_PAGE);
    if (e != ERR_OK) {
        return e;
    }
    return write_all(w, (const uint8_t *)h, sizeof *h, 0);
}

static bool is_file(int fd)
{
    struct stat status;

    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
}

enum err pack_write(struct source *s, const struct pack_options *o, int fd, const char *path)
{
    uint8_t types[SOURCE_MAX_TENSORS] = { INGOT_F32 };
    struct pack_options options = *o;
    struct writer w = { .s = s, .options = &options, .path = path, .fd = fd, .holes = is_file(fd) };
    enum err e = pack_check_types(o, s);

    if (e != ERR_OK) {
        return e;
    }
    if (o->automatic) {
        options.chosen = types;
    } else {
        pack_tell_types(o, s);
    }
    e = pack_lay_out(&w);
    if (e == ERR_OK && o->automatic) {
        e = pack_auto_choose(&w, types);
    }
    if (e == ERR_OK && o->automatic) {
        pack_tell_types(&options, s);
    }
    if (e == ERR_OK && o->hollow) {
        e = set_size(&w); /* the checksums of missing weights are wrong on purpose */
    } else if (e == ERR_OK) {
        e = write_segments(&w);
    }
    if (e == ERR_OK) {
        e = write_front(&w);
    }
    for (size_t i = 0; i < w.n_memory; i++) {
        free(w.memory[i]);
    }
    return e;
}
