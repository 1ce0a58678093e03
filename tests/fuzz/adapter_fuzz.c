/* The reader of adapters, with input in a compact form: the numbers of the header, then pairs, then the
 * data's bytes. Checksums and sizes that follow from others are put right first, or no mutation would get
 * beyond them; a flag leaves them as they are. Input that the reader accepts is loaded from memory, and
 * multiplied. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board/host/host_cpu.h"
#include "board/memory_device.h"
#include "runtime/base/crc32c.h"
#include "runtime/image/adapter_image.h"
#include "runtime/features/adapters/adapters.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    HEAD = offsetof(struct adapter_header, reserved),
    KEEP_PLACES = 1, /* flags: where pairs lie as they say */
    KEEP_SUMS = 2,   /* checksums */
    MOST_PAIRS = 64,
    MOST_BYTES = 1 << 20,
    DIM = 64,
    CHUNK = 4,
};

static _Alignas(64) uint8_t file[MOST_BYTES], memory[4 * MOST_BYTES];
static struct adapters adapters;

/* Lays pairs one after the other, and computes what follows from their ranks. */
static void set_places(struct adapter_header *h, struct adapter_pair *pairs)
{
    uint64_t end = 0;
    uint32_t most = 0, sum = 0;

    for (uint32_t i = 0; i < h->n_pairs; i++) {
        struct adapter_pair *p = &pairs[i];

        p->a = end;
        p->b = end + adapter_type_bytes(h->type, adapter_a_numbers(p));
        end = p->b + adapter_type_bytes(h->type, adapter_b_numbers(p));
        if (i != 0 && p->layer != pairs[i - 1].layer) {
            sum = 0;
        }
        sum += p->rank;
        most = sum > most ? sum : most;
    }
    h->most_ranks = most;
    h->data_bytes = (end + INGOT_PAGE - 1) / INGOT_PAGE * INGOT_PAGE;
}

static size_t lay_out(const uint8_t *data, size_t size, unsigned flags)
{
    struct adapter_header *h = (void *)file;
    struct adapter_pair *pairs = (void *)(file + sizeof *h);
    size_t front, rest;

    memset(file, 0, sizeof file);
    memcpy(h, data, size < HEAD ? size : HEAD);
    data += size < HEAD ? size : HEAD;
    size -= size < HEAD ? size : HEAD;
    h->n_pairs %= MOST_PAIRS + 1;
    front = h->n_pairs * sizeof *pairs;
    memcpy(pairs, data, size < front ? size : front);
    data += size < front ? size : front;
    size -= size < front ? size : front;
    if ((flags & KEEP_PLACES) == 0) {
        set_places(h, pairs);
    }
    if (h->data_bytes > MOST_BYTES / 2) {
        return 0;
    }
    front = sizeof *h + (size_t)adapter_table_bytes(h);
    rest = (size_t)h->data_bytes;
    for (size_t i = 0; i < rest && size != 0; i++) {
        file[front + i] = data[i % size];
    }
    h->file_bytes = front + rest;
    if ((flags & KEEP_SUMS) == 0) {
        h->pairs_crc32c = crc32c(0, pairs, (size_t)adapter_table_bytes(h));
        h->data_crc32c = crc32c(0, file + front, rest);
        h->header_crc32c = 0;
        h->header_crc32c = crc32c(0, h, sizeof *h);
    }
    return front + rest;
}

/* Goes the whole way of a board, from a device in memory, for a base that has only the
 * embedding. */
static void load(size_t bytes)
{
    static const struct ingot_layer layer = { .mixer = INGOT_MIXER_ATTENTION };
    static struct ingot_header header;
    static struct ingot_tensor tensors[2];
    struct image image = { .header = &header, .layers = &layer, .tensors = tensors };
    const struct adapter_header *h = (const void *)file;
    const struct adapter_pair *pairs = (const void *)(file + sizeof *h);
    struct memory_range range = { memory, sizeof memory };
    struct block_device device;
    struct kernels kernels;
    struct file f;

    header.params.dim = h->dim;
    header.params.n_layers = h->n_layers;
    header.params.vocab = h->vocab;
    header.tensors.count = 1;
    tensors[0] = (struct ingot_tensor){ .role = INGOT_TOKEN_EMBEDDING,
                                        .layer = INGOT_NO_LAYER,
                                        .rows = pairs[0].cols,
                                        .cols = pairs[0].rows };
    kernels_select(&kernels, host_cpu_features());
    memory_device_open(&device, "fuzz", file, bytes);
    if (file_open_device(&f, &device, bytes, NULL) != ERR_OK) {
        return;
    }
    adapters_open(&adapters, range, &image, &kernels, CHUNK);
    if (adapters_load(&adapters, "fuzz", &f, NULL, NULL) == ERR_OK) {
        const struct adapters_use use = { "fuzz", 0.5f };
        float *x = calloc(h->dim, sizeof *x);

        if (adapters_use(&adapters, &use, 1) == ERR_OK && h->n_pairs == 1 && x != NULL) {
            lora_enter(&adapters.sets[0], INGOT_NO_LAYER);
            lora_embed(&adapters.sets[0], &kernels, pairs[0].cols - 1, 1.0f, x);
        }
        free(x);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct adapter_header *h = (const void *)file;
    const struct adapter_pair *pairs = (const void *)(file + sizeof *h);
    char error_message[ADAPTER_ERROR_MESSAGE_BYTES];
    size_t bytes;

    if (size < 1) {
        return 0;
    }
    bytes = lay_out(data + 1, size - 1, data[0]);
    if (bytes == 0 || adapter_check_header(h, bytes, error_message) != ERR_OK ||
        adapter_check_pairs(h, pairs, error_message) != ERR_OK) {
        return 0;
    }
    if (h->n_pairs == 1 && pairs[0].role == INGOT_TOKEN_EMBEDDING && pairs[0].rows == h->dim) {
        load(bytes);
    }
    return 0;
}
