#include "flash_image/signing/sign_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flash_image/adapter/adapter.h"
#include "flash_image/output/output_file.h"
#include "flash_image/pack/ingot_file.h"
#include "flash_image/source/map_file.h"
#include "runtime/compute/tree_digest.h"
#include "runtime/image/adapter_image.h"

enum { COPY_BYTES = 1 << 20, WHY_BYTES = 320, PATH_BYTES = 4096 };

/* The parts of a mapped file, whose tables were checked. */
struct parts {
    const uint8_t *data;
    uint64_t file_bytes;
    size_t bytes; /* of the mapping, including the bytes after the model */
    uint32_t n;
    struct {
        uint64_t offset, bytes;
    } part[SIGNATURE_MOST_PARTS];
};

static enum err fail(char *error_message, size_t error_message_bytes, enum err e, const char *path,
                     const char *why)
{
    snprintf(error_message, error_message_bytes, "%.400s: %s", path, why);
    return e;
}

static void add_part(struct parts *p, uint64_t bytes)
{
    uint64_t offset = p->n == 0 ? 0 : p->part[p->n - 1].offset + p->part[p->n - 1].bytes;

    p->part[p->n].offset = offset;
    p->part[p->n].bytes = bytes;
    p->n++;
}

/* ---- read ------------------------------------------------------------------------------------ */

static enum err open_model(struct parts *p, const char *path, char *error_message,
                           size_t error_message_bytes)
{
    struct ingot_file f;
    enum err e = ingot_file_open(&f, path, error_message, error_message_bytes);

    if (e != ERR_OK) {
        return e;
    }
    *p = (struct parts){ .data = f.data,
                         .bytes = f.bytes,
                         .file_bytes = f.image.header->file_bytes };
    add_part(p, INGOT_PAGE);
    add_part(p, image_meta_bytes(f.image.header));
    for (uint32_t i = 0; i < f.image.header->segments.count; i++) {
        add_part(p, f.image.segments[i].bytes);
    }
    return ERR_OK; /* p now owns the mapping of f */
}

static enum err open_adapter(struct parts *p, const char *path, char *error_message,
                             size_t error_message_bytes)
{
    const struct adapter_header *h;
    struct mapping file;
    char why[WHY_BYTES];
    enum err e = mapping_open(&file, path, why, sizeof why);

    if (e != ERR_OK) {
        return fail(error_message, error_message_bytes, e, path, why);
    }
    h = (const void *)file.data;
    e = adapter_check_header(h, file.bytes, why);
    if (e == ERR_OK) {
        e = adapter_check_pairs(h, (const void *)(file.data + sizeof *h), why);
    }
    if (e != ERR_OK) {
        unmap_file(&file);
        return fail(error_message, error_message_bytes, e, path, why);
    }
    *p = (struct parts){ .data = file.data, .bytes = file.bytes, .file_bytes = h->file_bytes };
    add_part(p, sizeof *h);
    add_part(p, adapter_table_bytes(h));
    add_part(p, h->data_bytes);
    return ERR_OK;
}

static enum err open_parts(struct parts *p, const char *path, char *error_message,
                           size_t error_message_bytes)
{
    if (adapter_is(path)) {
        return open_adapter(p, path, error_message, error_message_bytes);
    }
    return open_model(p, path, error_message, error_message_bytes);
}

static void close_parts(struct parts *p)
{
    struct mapping m = { (uint8_t *)(uintptr_t)p->data, p->bytes };

    unmap_file(&m);
}

/* Hash part i; pages are released, because a model may be larger than memory. */
static void digest_part(const struct parts *p, uint32_t i, uint8_t *digest)
{
    const uint8_t *at = p->data + p->part[i].offset, *end = at + p->part[i].bytes, *kept = at;
    struct tree_digest d;

    tree_digest_begin(&d);
    while (at != end) {
        size_t n = (size_t)(end - at) < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;

        tree_digest_add(&d, NULL, at, n);
        at += n;
        map_release(&kept, at, at == end);
    }
    tree_digest_end(&d, digest);
}

/* Return the block of the signature, after the file's end; NULL: there is none. */
static const struct signature_block *block_of(const uint8_t *data, size_t bytes,
                                              uint64_t file_bytes)
{
    const struct signature_block *b = (const void *)(data + file_bytes);

    if (bytes < file_bytes || bytes - file_bytes < INGOT_PAGE || !signature_is_block(b)) {
        return NULL;
    }
    return b;
}

/* ---- written --------------------------------------------------------------------------------- */

static struct signature_block *make_block(const struct parts *p, const struct sign_key *k)
{
    uint64_t bytes = signature_block_bytes(p->n);
    struct signature_block *b = calloc(1, (size_t)bytes);
    uint8_t digest[SHA256_BYTES];

    if (b == NULL) {
        return NULL;
    }
    memcpy(b->magic, SIGNATURE_MAGIC, sizeof b->magic);
    b->version = SIGNATURE_VERSION;
    b->kind = SIGNATURE_P256;
    b->file_bytes = p->file_bytes;
    b->block_bytes = bytes;
    b->n_parts = p->n;
    b->leaf_bytes = SIGNATURE_LEAF;
    signature_key_id(b->key_id, k->signing.key);
    for (uint32_t i = 0; i < p->n; i++) {
        digest_part(p, i, b->digests[i]);
    }
    signature_digest(digest, b);
    sign_key_sign(k, digest, b->signature);
    return b;
}

static bool write_all(int fd, const void *data, uint64_t bytes)
{
    const uint8_t *at = data;

    while (bytes != 0) {
        ssize_t n = write(fd, at, bytes < COPY_BYTES ? (size_t)bytes : COPY_BYTES);

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        bytes -= (uint64_t)n;
    }
    return true;
}

static enum err write_copy(const struct parts *p, const struct signature_block *b, const char *out,
                           char *error_message, size_t error_message_bytes)
{
    const struct output_wish wish = { .path = out,
                                      .instead = "name a new file, such as signed.ingot" };
    struct output_file o;
    enum err e = output_open(&o, &wish, error_message, error_message_bytes);

    if (e != ERR_OK) {
        return e;
    }
    if (!output_put(&o, p->data, (size_t)p->file_bytes) ||
        !output_put(&o, b, (size_t)b->block_bytes)) {
        return output_fail(&o, error_message, error_message_bytes);
    }
    return output_keep(&o, error_message, error_message_bytes);
}

/* The bytes of fd after file_bytes, kept before they are overwritten; there may be none. */
struct tail {
    uint8_t *bytes;
    size_t n;
};

static bool read_tail(struct tail *t, const struct parts *p)
{
    t->n = p->bytes - (size_t)p->file_bytes;
    t->bytes = malloc(t->n + 1);
    if (t->bytes != NULL) {
        memcpy(t->bytes, p->data + p->file_bytes, t->n);
    }
    return t->bytes != NULL;
}

/* Restore the file after a write that failed because the disk is full. */
static void put_back(int fd, const struct parts *p, const struct tail *t)
{
    if (lseek(fd, (off_t)p->file_bytes, SEEK_SET) == (off_t)p->file_bytes) {
        (void)write_all(fd, t->bytes, t->n);
        (void)!ftruncate(fd, (off_t)p->bytes);
    }
}

/* Signals are blocked while the block is half written. */
static bool write_tail(int fd, const struct parts *p, const struct signature_block *b)
{
    sigset_t ends, before;
    bool good;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before);
    good = lseek(fd, (off_t)p->file_bytes, SEEK_SET) == (off_t)p->file_bytes &&
           write_all(fd, b, b->block_bytes) &&
           ftruncate(fd, (off_t)(p->file_bytes + b->block_bytes)) == 0 && fsync(fd) == 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return good;
}

static enum err write_behind(const struct parts *p, const struct signature_block *b,
                             const char *path, char *error_message, size_t error_message_bytes)
{
    struct tail tail = { NULL, 0 };
    int fd = open(path, O_WRONLY | O_CLOEXEC), error = 0;
    bool good = fd >= 0 && read_tail(&tail, p) && write_tail(fd, p, b);

    if (!good) {
        error = errno;
    }
    if (!good && tail.bytes != NULL) {
        put_back(fd, p, &tail);
    }
    free(tail.bytes);
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        error = errno;
    }
    mapping_renew(p->data);
    if (good) {
        return ERR_OK;
    }
    snprintf(error_message, error_message_bytes, "%.400s: cannot be written: %s", path,
             strerror(error));
    return ERR_IO;
}

/* True if both paths name the same file. The file is then signed in place, because a replacement
 * would invalidate the mapping. */
static bool is_same(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

enum err sign_file(const struct sign_key *k, const char *in, const char *out, char *error_message,
                   size_t error_message_bytes)
{
    struct signature_block *b;
    struct parts p;
    enum err e = open_parts(&p, in, error_message, error_message_bytes);

    if (e != ERR_OK) {
        return e;
    }
    b = make_block(&p, k);
    if (b == NULL) {
        e = fail(error_message, error_message_bytes, ERR_NO_SPACE, in, "out of memory");
    } else {
        e = mapping_check(error_message, error_message_bytes);
    }
    if (e == ERR_OK) {
        e = out == NULL || is_same(in, out)
                ? write_behind(&p, b, in, error_message, error_message_bytes)
                : write_copy(&p, b, out, error_message, error_message_bytes);
    }
    free(b);
    close_parts(&p);
    return e;
}

/* ---- checked --------------------------------------------------------------------------------- */

void sign_look(struct sign_checked *c, const uint8_t *data, size_t bytes, uint64_t file_bytes)
{
    const struct signature_block *b = block_of(data, bytes, file_bytes);

    memset(c, 0, sizeof *c);
    if (b != NULL) {
        c->state = SIGN_MATCHES;
        c->n_parts = b->n_parts;
        (void)signature_id_text(c->name, b->key_id);
    }
}

static void name_part(const struct parts *p, uint32_t i, const char *path, char *text, size_t bytes)
{
    struct image img;

    if (i < SIGNATURE_FRONT_PARTS) {
        snprintf(text, bytes, i == 0 ? "header" : "tables");
    } else if (adapter_is(path)) {
        snprintf(text, bytes, "data");
    } else if (image_check_header(&img, (const void *)p->data, p->bytes) == ERR_OK &&
               image_check_meta(&img, p->data + INGOT_PAGE) == ERR_OK) {
        image_segment_name(&img, i - SIGNATURE_FRONT_PARTS, text, bytes);
    }
}

/* Compare the digests in the block with the file's bytes. */
static enum err check_parts(const struct parts *p, const struct signature_block *b,
                            const char *path, char *error_message, size_t error_message_bytes)
{
    for (uint32_t i = 0; i < p->n; i++) {
        uint8_t digest[SHA256_BYTES];
        char name[48] = "";

        digest_part(p, i, digest);
        if (memcmp(digest, b->digests[i], sizeof digest) != 0) {
            name_part(p, i, path, name, sizeof name);
            snprintf(error_message, error_message_bytes, "%.400s: %s: %s", path, name,
                     err_text(ERR_NOT_SIGNED));
            return ERR_NOT_SIGNED;
        }
    }
    return ERR_OK;
}

static enum err check(struct sign_checked *c, const struct signing *key, const struct parts *p,
                      const char *path, char *error_message, size_t error_message_bytes)
{
    const struct signature_block *b = block_of(p->data, p->bytes, p->file_bytes);
    uint64_t bytes = signature_block_bytes(p->n);
    char why[SIGNING_ERROR_MESSAGE_BYTES];
    enum err e;

    sign_look(c, p->data, p->bytes, p->file_bytes);
    if (b == NULL && key == NULL) {
        return ERR_OK;
    }
    if (b == NULL || p->bytes - p->file_bytes < bytes) {
        return fail(error_message, error_message_bytes, ERR_NOT_SIGNED, path,
                    b == NULL ? "it is not signed" : "its signature is cut short: copy it again");
    }
    if (key != NULL) {
        e = signature_check_block(key, b, p->file_bytes, p->n, why);
        if (e != ERR_OK) {
            return fail(error_message, error_message_bytes, e, path, why);
        }
    } else if (b->file_bytes != p->file_bytes || b->n_parts != p->n) {
        return fail(error_message, error_message_bytes, ERR_NOT_SIGNED, path,
                    "its signature belongs to another file");
    }
    e = check_parts(p, b, path, error_message, error_message_bytes);
    if (e == ERR_OK) {
        c->state = key != NULL ? SIGN_HOLDS : SIGN_MATCHES;
    }
    return e;
}

enum err sign_check(struct sign_checked *c, const struct signing *key, const char *path,
                    char *error_message, size_t error_message_bytes)
{
    struct parts p;
    enum err e = open_parts(&p, path, error_message, error_message_bytes);

    if (e != ERR_OK) {
        return e;
    }
    e = check(c, key, &p, path, error_message, error_message_bytes);
    if (e == ERR_OK) {
        e = mapping_check(error_message, error_message_bytes);
    }
    close_parts(&p);
    return e;
}
