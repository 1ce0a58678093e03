/* The GGUF parser over arbitrary bytes; what it accepts is read as the packer reads it. The bytes
 * are tried as they are, and again with others after them, so that a short seed's tensors find
 * their data. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/pack/pack_own_type.h"
#include "flash_image/chat/chat_template.h"
#include "flash_image/gguf/gguf.h"
#include "flash_image/quantize/rows.h"
#include "flash_image/quantize/source_rows.h"
#include "flash_image/source/source.h"
#include "flash_image/tokenizer/tokenizer_section.h"
#include "runtime/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROW_FLOATS = INGOT_MAX_HIDDEN, LONGEST = 3 << 20, PART_BYTES = 1 << 20, FILLED = 0x3f };

static struct source source;

/* Memory for the widest row of a tensor, allocated once. */
static const struct rows_buffers *row_buffers(void)
{
    static struct rows_buffers b;
    struct rows_sizes sizes = rows_buffer_bytes(INGOT_MAX_HIDDEN);

    if (b.row == NULL) {
        b.row = malloc(sizes.row);
        b.blocks = malloc(sizes.blocks);
        b.group = malloc(sizes.group);
        b.codec = malloc(sizeof *b.codec);
    }
    if (b.row == NULL || b.blocks == NULL || b.group == NULL || b.codec == NULL) {
        abort();
    }
    return &b;
}

/* Quantizes the first and the last row, and the first group in every fourth type: quantizers
 * search, and took most of the time. Another input begins with another type. */
static void use_tensor(const struct source_tensor *t, unsigned first_type)
{
    static float row[ROW_FLOATS];

    source_read_row(t, 0, row);
    source_read_row(t, t->rows - 1, row);
    for (unsigned type = first_type % 4; type < INGOT_N_TYPES; type += 4) {
        const char *error_message = NULL;
        struct ingot_tensor entry = { .type = (uint8_t)type };

        if (!image_type_takes(type, t->cols) ||
            (image_type_is_packed(type) && pack_own_type(t) != type)) {
            continue;
        }
        rows_begin(t, &entry, row_buffers());
        if (rows_pack_group(t, (enum ingot_type)type, 0, row_buffers(), &error_message) == 0 &&
            error_message == NULL) {
            abort(); /* every refusal has an error message */
        }
    }
}

/* The matrix, or the first and the last of several. */
static void use_stack(const struct source_tensor *t, unsigned first_type)
{
    struct source_tensor one = *t;

    if (t->stack != 0) {
        one = source_expert(t, t->stack - 1);
        use_tensor(&one, first_type + 1);
        one = source_expert(t, 0);
    }
    use_tensor(&one, first_type);
}

static void use_tensors(size_t size)
{
    for (size_t i = 0; i < SOURCE_MAX_TENSORS; i++) {
        const struct source_tensor *t = &source.tensors[i];

        if (t->data != NULL && source.params_known) {
            use_stack(t, (unsigned)(i + size));
        }
    }
}

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* The packer's files must be accepted by the reader. */
static void use_section(uint8_t *section, uint64_t bytes)
{
    uint8_t chat[CHAT_MOST_BYTES] __attribute__((aligned(8)));
    char error_message[CHAT_ERROR_MESSAGE_BYTES];
    struct chat_request r = { .jinja = source.chat_template, .tokenizer = section };
    struct image image;
    size_t chat_bytes = 0;

    must(image_check_tokenizer(&image, section, bytes, source.vocab.n_tokens) == ERR_OK);
    if (chat_template_build(&r, chat, &chat_bytes, error_message) == ERR_OK) {
        must(chat_bytes <= CHAT_MOST_BYTES);
        chat_template_claim(chat, section);
    }
}

static void use_vocab(void)
{
    struct tokenizer_size size;
    uint64_t bytes;
    uint8_t *section;

    if (tokenizer_section_measure(&source, &size) != ERR_OK) {
        return;
    }
    section = calloc(1, (size_t)size.bytes);
    if (section == NULL) {
        return;
    }
    if (tokenizer_section_build(&source, &size, section, &bytes) == ERR_OK) {
        must(bytes <= size.bytes);
        use_section(section, bytes);
    } else {
        must(source.error_message[0] != '\0');
    }
    free(section);
}

static void parse(const uint8_t *data, size_t size, bool vocab_only, bool mtp)
{
    memset(&source, 0, sizeof source);
    source.path = "fuzz";
    source.wants_mtp = mtp;
    if (gguf_parse(&source, data, size, vocab_only) != ERR_OK) {
        if (source.error_message[0] == '\0') {
            abort(); /* every refusal has an error message */
        }
        return;
    }
    use_vocab();
    use_tensors(size);
}

/* The bytes and others after them, where a part's tensors find their data. */
static struct gguf_part filled(const char *path, uint8_t *room, const uint8_t *data, size_t size)
{
    memset(room, FILLED, PART_BYTES);
    memcpy(room, data, size);
    return (struct gguf_part){ path, room, PART_BYTES };
}

/* Takes the start of a second GGUF in the bytes as the second part of a model; in any case parses a
 * file's name. */
static void parse_parts(const uint8_t *data, size_t size)
{
    static uint8_t room[2][PART_BYTES];
    const uint8_t *second = size > 4 ? memmem(data + 1, size - 1, "GGUF", 4) : NULL;
    struct gguf_part parts[2];
    size_t part = 0, n = 0;

    memset(&source, 0, sizeof source);
    source.path = "fuzz-00001-of-00002.gguf";
    if (gguf_find_split(&source, data, size, &part, &n) == ERR_OK) {
        must(part < n && n <= 2);
    } else {
        must(source.error_message[0] != '\0');
    }
    if (second == NULL || size > PART_BYTES) {
        return;
    }
    parts[0] = filled("fuzz-00001-of-00002.gguf", room[0], data, (size_t)(second - data));
    parts[1] = filled("fuzz-00002-of-00002.gguf", room[1], second, size - (size_t)(second - data));
    memset(&source, 0, sizeof source);
    source.path = parts[0].path;
    if (gguf_parse_parts(&source, parts, 2, false) == ERR_OK) {
        must(source.path == parts[0].path);
        use_vocab();
        use_tensors(size);
    } else {
        must(source.error_message[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t longer[LONGEST];
    static size_t used;

    parse(data, size, false, false);
    if (size >= LONGEST) {
        return 0;
    }
    if (longer[LONGEST - 1] == 0) {
        memset(longer, FILLED, sizeof longer); /* floats of .75, scales of 1.8 */
    }
    memcpy(longer, data, size);
    if (used > size) {
        memset(longer + size, FILLED, used - size);
    }
    used = size;
    parse(longer, sizeof longer, false, false);
    parse(longer, sizeof longer, false, true); /* the MTP head alone */
    parse(data, size, true, false);
    parse_parts(data, size);
    return 0;
}
