/* The .ingot reader over arbitrary bytes: header, then sections, and what the reader lets pass is
 * then used as the runtime uses it. Checksums are put right first, or no mutation would get
 * beyond them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/crc32c.h"
#include "runtime/image.h"
#include "runtime/tokenizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal_section(struct ingot_section *s, const uint8_t *meta, size_t meta_bytes)
{
    uint64_t at = s->offset - INGOT_PAGE;

    if (s->offset >= INGOT_PAGE && at <= meta_bytes && s->bytes <= meta_bytes - at) {
        s->crc32c = crc32c(0, meta + at, (size_t)s->bytes);
    }
}

static void seal(struct ingot_header *h, const uint8_t *meta, size_t meta_bytes)
{
    memcpy(h->magic, INGOT_MAGIC, sizeof h->magic);
    seal_section(&h->tokenizer, meta, meta_bytes);
    seal_section(&h->chat, meta, meta_bytes);
    seal_section(&h->tensors, meta, meta_bytes);
    seal_section(&h->extents, meta, meta_bytes);
    h->header_crc32c = 0;
    h->header_crc32c = crc32c(0, h, sizeof *h);
}

static void use_tokenizer(const struct image *img)
{
    static const char text[] = "Once upon a time\n\xe2\x96\x81 \xff\xc3\xa9<s>";
    static uint64_t scratch[1 << 14];
    static volatile char sink; /* so that the bytes are really read */
    uint32_t ids[128];
    struct tokenizer t;
    size_t n = 0;

    tokenizer_open(&t, img->tokenizer);
    (void)tokenizer_encode(&t, text, sizeof text - 1, TOKENIZER_BOS, ids, 128, &n, scratch,
                           sizeof scratch);
    for (uint32_t id = 0; id < t.head->n_tokens && id < 4096; id++) {
        size_t bytes;
        const char *piece = tokenizer_piece(&t, id, t.head->bos, &bytes);

        for (size_t i = 0; i < bytes; i++) {
            sink ^= piece[i];
        }
    }
}

/* Every tensor lies inside its extent, whatever the table says. */
static void use_tables(const struct image *img)
{
    uint32_t bytes;

    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        const struct ingot_tensor *t = &img->tensors[i];
        const struct ingot_extent *x = &img->extents[t->extent];

        if (t->offset > x->bytes || t->bytes > x->bytes - t->offset ||
            x->offset > img->header->file_bytes || x->bytes > img->header->file_bytes - x->offset) {
            abort();
        }
    }
    for (int i = 0; i < INGOT_CHAT_STRINGS; i++) {
        const char *text = image_chat_string(img, (enum ingot_chat_string)i, &bytes);

        if ((const uint8_t *)text + bytes > (const uint8_t *)img->chat + img->header->chat.bytes) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ingot_header header;
    struct image img;
    uint64_t meta_bytes;
    uint8_t *meta;

    memset(&header, 0, sizeof header);
    memcpy(&header, data, size < sizeof header ? size : sizeof header);
    data += size < sizeof header ? size : sizeof header;
    size -= size < sizeof header ? size : sizeof header;
    seal(&header, data, size);
    /* The weights are not needed here: as much file as the header says, if it brings sections. */
    if (image_check_header(&img, &header, header.file_bytes) != ERR_OK) {
        if (img.problem[0] == '\0') {
            abort(); /* every refusal has a sentence */
        }
        return 0;
    }
    meta_bytes = image_meta_bytes(&header);
    if (meta_bytes > size) {
        return 0;
    }
    meta = malloc((size_t)meta_bytes); /* of just this size, so that ASan sees a step beyond */
    if (meta == NULL) {
        return 0;
    }
    memcpy(meta, data, (size_t)meta_bytes);
    if (image_check_meta(&img, meta) == ERR_OK) {
        use_tables(&img);
        use_tokenizer(&img);
    } else if (img.problem[0] == '\0') {
        abort();
    }
    free(meta);
    return 0;
}
