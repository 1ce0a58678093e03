/* The tokenizer files of a Hugging Face folder over arbitrary bytes: as tokenizer.json, as
 * SentencePiece's tokenizer.model, as the configurations; what passes becomes a section that the
 * image reader accepts, or is refused with a sentence. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_tokenizer.h"
#include "flash_image/tokenizer/tokenizer_section.h"
#include "runtime/image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct source source;

static void demand_error_message(enum err e)
{
    if (e != ERR_OK && source.error_message[0] == '\0') {
        abort();
    }
}

static void build(void)
{
    struct tokenizer_size size;
    enum err e = tokenizer_section_measure(&source, &size);
    uint8_t *section = e == ERR_OK ? calloc(1, (size_t)size.bytes) : NULL;
    uint64_t bytes;
    struct image img;

    demand_error_message(e);
    if (section == NULL) {
        return;
    }
    e = tokenizer_section_build(&source, &size, section, &bytes);
    demand_error_message(e);
    if (e == ERR_OK && (bytes > size.bytes ||
                        image_check_tokenizer(&img, section, bytes, size.n_tokens) != ERR_OK)) {
        abort();
    }
    free(section);
}

static void try(const uint8_t *data, size_t size, bool pieces)
{
    struct hf_tokenizer t = { .room = 0 };
    enum err e;

    memset(&source, 0, sizeof source);
    source.path = "fuzz";
    e = pieces ? hf_sentencepiece_read(&source, data, size, &t)
               : hf_tokenizer_read(&source, data, size, &t);
    demand_error_message(e);
    if (e == ERR_OK) {
        demand_error_message(hf_tokenizer_config_read(&source, data, size, &t));
        demand_error_message(hf_special_ids_read(&source, data, size));
        build();
    }
    hf_tokenizer_free(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try(data, size, false);
    try(data, size, true);
    return 0;
}
