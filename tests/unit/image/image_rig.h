/* Two .ingot files, packed here from a small random model, and a copy of one to damage: a field is
 * written, checksums are put right, and the reader must refuse it by name. */
#ifndef INGOT_TESTS_UNIT_IMAGE_RIG_H
#define INGOT_TESTS_UNIT_IMAGE_RIG_H

#include "flash_image/pack/pack.h"
#include "runtime/base/crc32c.h"
#include "runtime/image/image.h"
#include "tests/unit/model_files.h"
#include "tests/unit/tap.h"

#define PARAM(field) (offsetof(struct ingot_header, params.field))
#define HEADER(field) (offsetof(struct ingot_header, field))

static struct bytes good; /* a packed model: Q8_0, not tied */
static struct bytes tied; /* the same, Q4_0, tied */
static uint8_t *work;     /* a copy to damage, 8-byte aligned */

static inline struct ingot_header *header(void)
{
    return (void *)work;
}

static inline void restore(const struct bytes *from)
{
    memcpy(work, from->data, from->n);
}

/* Puts every checksum right that can be reached, so that the field itself is refused. */
static inline void seal(size_t bytes)
{
    struct ingot_section *sections[] = { &header()->tokenizer, &header()->chat, &header()->layers,
                                         &header()->segments, &header()->tensors };

    for (size_t i = 0; i < 5; i++) {
        if (sections[i]->offset <= bytes && sections[i]->bytes <= bytes - sections[i]->offset) {
            sections[i]->crc32c = crc32c(0, work + sections[i]->offset, (size_t)sections[i]->bytes);
        }
    }
    header()->header_crc32c = 0;
    header()->header_crc32c = crc32c(0, work, sizeof(struct ingot_header));
}

static inline enum err check(struct image *img, size_t bytes)
{
    enum err e = image_check_header(img, header(), bytes);

    return e == ERR_OK ? image_check_meta(img, work + INGOT_PAGE) : e;
}

/* Writes a field, puts the checksums right, and expects an error message with `words`. */
static inline void refuse(const struct bytes *from, size_t offset, const void *value, size_t bytes,
                          enum err expected, const char *words)
{
    struct image img;
    enum err e;

    restore(from);
    memcpy(work + offset, value, bytes);
    seal(from->n);
    e = check(&img, from->n);
    OK(e == expected && strstr(img.error_message, words) != NULL && strlen(img.error_message) < 95,
       "the image is refused (%d): %s", (int)e, img.error_message);
}

static inline void refuse_u32(size_t offset, uint32_t value, const char *words)
{
    refuse(&good, offset, &value, sizeof value, ERR_BAD_HEADER, words);
}

static inline void refuse_u64(size_t offset, uint64_t value, const char *words)
{
    refuse(&good, offset, &value, sizeof value, ERR_BAD_HEADER, words);
}

static inline bool make(const char *name, bool is_tied, enum ingot_type type, struct bytes *out)
{
    struct pack_options o = { .type = type, .type_given = true, .quiet = true };
    struct bytes model = llama2c_make(&small_shape, is_tied, 0.5f);
    struct bytes tokenizer = llama2c_make_tokenizer(300);
    char error_message[512] = "";

    o.input = folder_path("small.bin");
    o.output = folder_path(name);
    OK(bytes_save(&model, o.input) && bytes_save(&tokenizer, folder_path("tok300.bin")),
       "the small model is written");
    OK(pack_file(&o, error_message, sizeof error_message) == ERR_OK,
       "the small model is packed as %s %s", image_type_name(type), error_message);
    *out = bytes_load(o.output);
    bytes_free(&model);
    bytes_free(&tokenizer);
    return out->n > INGOT_PAGE;
}

/* Makes both files; work has room for either. False: a check said why not. */
static inline bool image_rig_open(void)
{
    static const char *const names[] = { "small.bin", "tok300.bin", "good", "tied", NULL };
    bool made = OK(folder_make(), "the test has a folder for files") &&
                OK(make("good", false, INGOT_Q8_0, &good) && make("tied", true, INGOT_Q4_0, &tied),
                   "the test has two files to read");

    folder_remove(names);
    if (!made) {
        return false;
    }
    work = malloc(good.n > tied.n ? good.n : tied.n);
    if (work == NULL) {
        abort();
    }
    return true;
}

static inline void image_rig_close(void)
{
    free(work);
    bytes_free(&good);
    bytes_free(&tied);
}

#endif
