/* The .ingot reader over a compact spelling of header and sections, so that bytes matter: the 488
 * bytes of the header that mean something, the sections without padding, and a text. Fields
 * that follow from other bytes are corrected first (checksums always, places and counts as the flags in
 * the magic's stead say), or no mutation would get beyond it. Accepted input is then
 * used as the runtime uses it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/image/image.h"
#include "runtime/base/crc32c.h"
#include "runtime/stream/plan.h"
#include "runtime/tokenizer/tokenizer.h"

#include "board/host/host_cpu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEAD = offsetof(struct ingot_header, reserved),
    SECTIONS = 6,
    KEEP_PLACES = 1,   /* flags: offsets of sections as they stand */
    KEEP_SEGMENTS = 2, /* offsets of segments and file_bytes */
    KEEP_COUNTS = 4,
    MOST_TEXT = 300,
    MOST_IDS = 4 * MOST_TEXT + 3,
};

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static uint64_t round_up(uint64_t n)
{
    return (n + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

/* Builds the file from its header on, as its sections lie: meta of meta_bytes behind the header. */
struct file {
    struct ingot_header header;
    struct ingot_section *section[SECTIONS];
    uint8_t *meta;
    uint64_t meta_bytes;
};

static void lay_sections(struct file *f, unsigned flags, size_t size)
{
    uint64_t at = INGOT_PAGE;

    for (unsigned i = 0; i < SECTIONS; i++) {
        struct ingot_section *s = f->section[i];

        s->bytes = s->bytes < size ? s->bytes : size;
        size -= (size_t)s->bytes;
        s->offset = (flags & KEEP_PLACES) == 0 ? at : s->offset;
        at = round_up(at + s->bytes);
    }
    f->meta_bytes = at - INGOT_PAGE;
    if ((flags & KEEP_COUNTS) == 0) {
        f->header.rope.count = (uint32_t)(f->header.rope.bytes / sizeof(float));
        f->header.layers.count = (uint32_t)(f->header.layers.bytes / sizeof(struct ingot_layer));
        f->header.tensors.count = (uint32_t)(f->header.tensors.bytes / sizeof(struct ingot_tensor));
        f->header.segments.count = (uint32_t)(f->header.segments.bytes /
                                              sizeof(struct ingot_segment));
    }
}

/* Copies the sections to their pages; returns what is left, which is a text. */
static const uint8_t *fill_sections(struct file *f, const uint8_t *data)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < SECTIONS; i++) {
        struct ingot_section *s = f->section[i];

        memcpy(f->meta + at, data, (size_t)s->bytes);
        data += s->bytes;
        at = round_up(at + s->bytes);
    }
    return data;
}

static void lay_segments(struct file *f)
{
    uint8_t *table = f->meta + f->meta_bytes - round_up(f->header.tensors.bytes) -
                     round_up(f->header.segments.bytes);
    uint64_t at = INGOT_PAGE + f->meta_bytes;

    for (uint64_t i = 0; i < f->header.segments.bytes / sizeof(struct ingot_segment); i++) {
        struct ingot_segment x;

        memcpy(&x, table + i * sizeof x, sizeof x);
        x.offset = at;
        at += x.bytes;
        memcpy(table + i * sizeof x, &x, sizeof x);
    }
    f->header.file_bytes = at;
}

static void seal(struct file *f)
{
    static struct kernels kernels;
    uint64_t at = 0;

    if (kernels.crc32c_u8 == NULL) {
        kernels_select(&kernels, host_cpu_features());
        crc32c_use(&kernels);
    }
    for (unsigned i = 0; i < SECTIONS; i++) {
        f->section[i]->crc32c = crc32c(0, f->meta + at, (size_t)f->section[i]->bytes);
        at += round_up(f->section[i]->bytes);
    }
    f->header.header_crc32c = 0;
    f->header.header_crc32c = crc32c(0, &f->header, sizeof f->header);
}

/* meta has exactly its size, so that ASan sees a read beyond. */
static const uint8_t *open_file(struct file *f, const uint8_t *data, size_t size)
{
    struct ingot_header *h = &f->header;
    unsigned flags = data[0];

    memset(f, 0, sizeof *f);
    memcpy(h, data, HEAD);
    memcpy(h->magic, INGOT_MAGIC, sizeof h->magic);
    f->section[0] = &h->tokenizer;
    f->section[1] = &h->chat;
    f->section[2] = &h->rope;
    f->section[3] = &h->layers;
    f->section[4] = &h->segments;
    f->section[5] = &h->tensors;
    lay_sections(f, flags, size - HEAD);
    f->meta = calloc(1, f->meta_bytes != 0 ? (size_t)f->meta_bytes : 1);
    must(f->meta != NULL);
    data = fill_sections(f, data + HEAD);
    if ((flags & KEEP_SEGMENTS) == 0) {
        lay_segments(f);
    }
    seal(f);
    return data;
}

static void encode(const struct tokenizer *t, const char *text, size_t bytes, bool trusted)
{
    static _Alignas(8) uint8_t scratch[1 << 16];
    static volatile char sink; /* so that the bytes are really read */
    struct tokenizer_part part = { text, bytes, trusted };
    uint32_t ids[MOST_IDS];
    size_t n = 0;

    must(tokenizer_scratch_bytes(bytes) <= sizeof scratch);
    (void)tokenizer_encode_parts(t, &part, 1, TOKENIZER_BOS | TOKENIZER_EOS, ids, MOST_IDS, &n,
                                 scratch, sizeof scratch);
    for (size_t i = 0; i < n; i++) {
        size_t piece_bytes;
        const char *piece;

        must(ids[i] < t->head->n_tokens);
        must(trusted || tokenizer_type(t, ids[i]) != INGOT_TOKEN_CONTROL ||
             (i == 0 && ids[i] == t->head->bos) || (i == n - 1 && ids[i] == t->head->eos) ||
             ids[i] == t->head->unk);
        piece = tokenizer_piece(t, ids[i], i != 0 ? ids[i - 1] : t->head->bos, &piece_bytes);
        for (size_t j = 0; j < piece_bytes; j++) {
            sink ^= piece[j];
        }
    }
}

/* Encodes the text and each chat string, and reads every token's piece. */
static void use_tokenizer(const struct image *img, const char *text, size_t bytes)
{
    struct tokenizer t;
    uint32_t string_bytes;

    tokenizer_open(&t, img->tokenizer);
    encode(&t, text, bytes, false);
    encode(&t, text, bytes, true);
    for (int i = 0; i < INGOT_CHAT_STRINGS; i++) {
        const char *s = image_chat_string(img, (enum ingot_chat_string)i, &string_bytes);

        must((const uint8_t *)s + string_bytes <=
             (const uint8_t *)img->chat + img->header->chat.bytes);
        encode(&t, s, string_bytes < MOST_TEXT ? string_bytes : MOST_TEXT, true);
    }
}

/* Checks that every tensor is inside its segment, and every segment inside the file. */
static void use_tables(const struct image *img)
{
    for (uint32_t i = 0; i < img->header->tensors.count; i++) {
        const struct ingot_tensor *t = &img->tensors[i];
        const struct ingot_segment *x = &img->segments[t->segment];

        must(t->offset <= x->bytes && t->bytes <= x->bytes - t->offset);
        must(x->offset <= img->header->file_bytes &&
             x->bytes <= img->header->file_bytes - x->offset);
    }
}

/* Checks that a plan fits the memory that it was made for, or says what does not. */
static void use_plan(const struct image *img)
{
    static struct plan plan;

    for (unsigned i = 0; i < 6; i++) {
        struct plan_request r = {
            .image = img,
            .arena_bytes = (size_t)1 << (20 + 4 * i),
            .in_place = i % 3 == 2,
            .limits.weights = i % 2 != 0 ? (size_t)1 << (18 + 4 * i) : 0,
        };

        memset(&plan, 0, sizeof plan);
        if (plan_make(&plan, &r) != ERR_OK) {
            must(plan.error_message[0] != '\0');
            continue;
        }
        must(plan.memory.pinned <= r.arena_bytes && plan.memory.io <= r.arena_bytes &&
             plan.memory.kv <= r.arena_bytes && plan.memory.scratch <= r.arena_bytes);
        must(plan.memory.pinned + plan.memory.io + plan.memory.kv + plan.memory.scratch <=
             r.arena_bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct file f;
    struct image img;
    const uint8_t *text;
    size_t text_bytes;

    if (size < HEAD) {
        return 0;
    }
    text = open_file(&f, data, size);
    text_bytes = size - (size_t)(text - data);
    /* The weights are not needed here: the file is as long as the header says. */
    if (image_check_header(&img, &f.header, f.header.file_bytes) != ERR_OK) {
        must(img.error_message[0] != '\0'); /* every refusal has an error message */
    } else {
        must(image_meta_bytes(&f.header) == f.meta_bytes);
        if (image_check_meta(&img, f.meta) == ERR_OK) {
            use_tables(&img);
            use_plan(&img);
            use_tokenizer(&img, (const char *)text,
                          text_bytes < MOST_TEXT ? text_bytes : MOST_TEXT);
        } else {
            must(img.error_message[0] != '\0');
        }
    }
    free(f.meta);
    return 0;
}
