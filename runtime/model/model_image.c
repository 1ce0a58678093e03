/* Read a model's header, signature and tables, unless they are in memory already, and check
 * them. */
#include <string.h>

#include "runtime/model/layer_kinds.h"
#include "runtime/model/model_private.h"
#include "runtime/text/format_text.h"

enum err model_refuse(struct model *m, enum err error, const char *error_message)
{
    format_text(m->error_message, sizeof m->error_message, "%.100s: %.280s", m->file->name,
                error_message[0] != '\0' ? error_message : err_text(error));
    return error;
}

static enum err read_tables(struct file_read *read, const struct model *m,
                            const struct model_setup *setup, uint64_t offset, void *buffer,
                            size_t bytes)
{
    bool stopped = false;
    enum err error;

    (void)file_read_start(read, m->file, offset, buffer, bytes); /* the poll reports an error */
    do {
        error = file_read_poll(read);
        if (setup->progress != NULL &&
            !setup->progress(setup->progress_context, "reading the tables", read->bytes_done,
                             bytes)) {
            stopped = true;
            file_read_stop(read);
        }
    } while (error == ERR_BUSY);
    if (stopped) {
        return ERR_ABORTED;
    }
    return error;
}

/* Get bytes [offset, offset + bytes) of the file, in place or read into ARENA_META. */
static enum err fetch(struct model *m, const struct model_setup *setup, uint64_t offset,
                      size_t bytes, const void **out)
{
    const void *at = file_memory(m->file, offset, bytes);
    struct file_read *read = &m->stream.ring.slots[0].read; /* no transfer uses this slot yet */
    char error_message[200] = "";
    void *copy;
    enum err error;

    if (at != NULL) {
        *out = at;
        return ERR_OK;
    }
    copy = arena_take(&m->arena, ARENA_META, bytes);
    error = read_tables(read, m, setup, offset, copy, bytes);
    *out = copy;
    if (error == ERR_IO || error == ERR_TIMEOUT) {
        format_text(error_message, sizeof error_message, "header and tables, sector %lu of %s: %s",
                    (unsigned long)read->failed_sector, m->file->device->name,
                    block_device_reason(m->file->device, error));
    }
    if (error != ERR_OK) {
        return model_refuse(m, error, error_message);
    }
    return ERR_OK;
}

/* Refuse a model whose header and tables, of this many bytes, do not fit into the arena. */
static enum err refuse_tables(struct model *m, uint64_t bytes)
{
    char text[120];

    format_text(text, sizeof text,
                "its header and tables need %lu KiB, but only %lu KiB of memory are free: use a "
                "smaller model",
                (unsigned long)((bytes + 1023) / 1024), (unsigned long)(m->arena.bytes / 1024));
    return model_refuse(m, ERR_NO_SPACE, text);
}

/* The header is at the arena's start, the tables directly after it. The size of their common
 * region is known only after the header is read, so the region is reserved twice, at the same
 * place. */
static enum err open_header(struct model *m, const struct model_setup *setup)
{
    const void *at;
    enum err error;

    if (m->file->bytes < INGOT_PAGE) { /* there is no whole header, so none is read */
        error = image_check_header(&m->image, NULL, m->file->bytes);
        return model_refuse(m, error, m->image.error_message);
    }
    if (arena_reserve(&m->arena, ARENA_META, INGOT_PAGE) != ERR_OK) {
        return refuse_tables(m, INGOT_PAGE);
    }
    error = fetch(m, setup, 0, INGOT_PAGE, &at);
    if (error != ERR_OK) {
        return error;
    }
    error = image_check_header(&m->image, at, m->file->bytes);
    if (error != ERR_OK) {
        return model_refuse(m, error, m->image.error_message);
    }
    return ERR_OK;
}

/* Reserve the region again, with this many bytes after the header. */
static enum err reserve_tables(struct model *m, uint64_t bytes)
{
    arena_reset(&m->arena);
    if (bytes + INGOT_PAGE > arena_left(&m->arena) ||
        arena_reserve(&m->arena, ARENA_META, (size_t)bytes + INGOT_PAGE) != ERR_OK) {
        return refuse_tables(m, bytes + INGOT_PAGE);
    }
    if (file_memory(m->file, 0, INGOT_PAGE) == NULL) {
        (void)arena_take(&m->arena, ARENA_META, INGOT_PAGE);
    }
    return ERR_OK;
}

/* ---- signatures ------------------------------------------------------------------------------ */

static uint64_t ticks_of(const struct model *m)
{
    const struct platform *platform = m->file->timeout.platform;

    return platform == NULL ? 0 : platform_ticks(&platform->clock);
}

/* Check that these bytes are the signed bytes of part number `part`. */
static enum err check_signed_part(struct model *m, const struct model_setup *setup, unsigned part,
                                  const void *data, size_t bytes)
{
    const struct signing *g = setup->signing;
    uint8_t digest[SIGNATURE_DIGEST_BYTES];
    struct tree_digest d;

    g->begin_digest(&d);
    g->add_digest(&d, setup->workers, data, bytes);
    g->end_digest(&d, digest);
    if (memcmp(digest, m->signature.digests[part], sizeof digest) != 0) {
        return model_refuse(m, ERR_NOT_SIGNED,
                            part == 0 ? "its header is not the one that was signed: copy the model "
                                        "again, or sign it"
                                      : "its tables are not those that were signed: copy the model "
                                        "again, or sign it");
    }
    return ERR_OK;
}

/* Check the signature's block, and the header against it, before anything except the header's
 * sizes is trusted. */
static enum err check_signature(struct model *m, const struct model_setup *setup)
{
    const struct ingot_header *h = m->image.header;
    uint32_t n_parts = SIGNATURE_FRONT_PARTS + h->segments.count;
    uint64_t bytes = signature_block_bytes(n_parts), start = ticks_of(m);
    char error_message[SIGNING_ERROR_MESSAGE_BYTES];
    const struct signature_block *block;
    const void *at;
    enum err error;

    if (m->file->bytes < h->file_bytes + bytes) {
        return model_refuse(m, ERR_NOT_SIGNED,
                            "it is not signed: sign it with `ingot sign MODEL --key KEY.pem`");
    }
    error = fetch(m, setup, h->file_bytes, (size_t)bytes, &at);
    if (error != ERR_OK) {
        return error;
    }
    block = at;
    error = setup->signing->check_block(setup->signing, block, h->file_bytes, n_parts,
                                        error_message);
    if (error != ERR_OK) {
        return model_refuse(m, error, error_message);
    }
    m->signature.signing = setup->signing;
    m->signature.digests = block->digests;
    error = check_signed_part(m, setup, 0, h, sizeof *h);
    m->signature.ticks = ticks_of(m) - start;
    return error;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Return the size of the signature's block, or 0 if no signature is needed. */
static uint64_t block_bytes(const struct model *m, const struct model_setup *setup)
{
    if (setup->signing == NULL) {
        return 0;
    }
    return signature_block_bytes(SIGNATURE_FRONT_PARTS + m->image.header->segments.count);
}

/* Read and check the tables, after header and signature. */
static enum err open_tables(struct model *m, const struct model_setup *setup, size_t bytes)
{
    const void *at;
    enum err error = fetch(m, setup, INGOT_PAGE, bytes, &at);

    if (error == ERR_OK && setup->signing != NULL) {
        error = check_signed_part(m, setup, 1, at, bytes);
    }
    if (error != ERR_OK) {
        return error;
    }
    error = image_check_meta(&m->image, at);
    if (error == ERR_OK) {
        error = layer_check(&m->image);
    }
    if (error == ERR_OK && m->image.header->params.mtp != 0 && !setup->draft) {
        return model_refuse(m, ERR_UNSUPPORTED,
                            "it is an MTP head or an assistant, which guesses the tokens of a "
                            "model: open the model, with this file as draft=");
    }
    if (error != ERR_OK) {
        return model_refuse(m, error, m->image.error_message);
    }
    return ERR_OK;
}

enum err model_open_image(struct model *m, const struct model_setup *setup)
{
    uint64_t bytes;
    enum err error = open_header(m, setup);

    if (error != ERR_OK) {
        return error;
    }
    bytes = image_meta_bytes(m->image.header);
    error = reserve_tables(m, bytes + block_bytes(m, setup));
    if (error == ERR_OK && setup->signing != NULL) {
        error = check_signature(m, setup);
    }
    if (error != ERR_OK) {
        return error;
    }
    return open_tables(m, setup, (size_t)bytes);
}
