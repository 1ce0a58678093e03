/* A log of any bytes: what its reader returns is inside the file, in order, and an append after it
 * is the newest record. The first byte of the input says whether its CRCs are put right. */
#include <stdlib.h>
#include <string.h>

#include "board/memory_device.h"
#include "host/cli/record_list.h"
#include "runtime/base/crc32c.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SECTORS = 32, FILE_BYTES = SECTORS * SECTOR_BYTES };

static _Alignas(64) uint8_t file_data[FILE_BYTES], buffer[2 * SECTOR_BYTES];

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void mend(void)
{
    for (size_t i = 0; i < SECTORS; i++) {
        struct record_header *h = (void *)(file_data + i * SECTOR_BYTES);
        size_t room = FILE_BYTES - i * SECTOR_BYTES - sizeof *h;

        if (h->bytes <= room) {
            h->crc = crc32c(0, h + 1, h->bytes);
        }
        h->header_crc = 0;
        h->header_crc = crc32c(0, h, sizeof *h);
    }
}

static void read_all(void)
{
    struct record_list l;
    unsigned sum = 0;

    must(record_list_read(&l, file_data, sizeof file_data));
    for (size_t i = 0; i < l.n; i++) {
        const struct record *r = &l.list[i];

        must((const uint8_t *)r->text >= file_data &&
             (const uint8_t *)r->text + r->bytes <= file_data + sizeof file_data);
        must(i == 0 || r->sequence >= l.list[i - 1].sequence);
        for (uint32_t b = 0; b < r->bytes; b++) {
            sum += (uint8_t)r->text[b];
        }
    }
    must(sum <= 255u * FILE_BYTES);
    record_list_free(&l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block_device device;
    struct record_ring ring;
    struct file file;

    if (size == 0) {
        return 0;
    }
    memset(file_data, 0, sizeof file_data);
    memcpy(file_data, data + 1, size - 1 < FILE_BYTES ? size - 1 : FILE_BYTES);
    if ((data[0] & 1) != 0) {
        mend();
    }
    read_all();
    memory_device_open(&device, "log", file_data, sizeof file_data);
    must(file_open_device(&file, &device, FILE_BYTES, NULL) == ERR_OK);
    must(record_ring_open(&ring, &file, buffer, sizeof buffer) == ERR_OK);
    must(ring.next <= SECTORS);
    must(record_ring_append(&ring, buffer, 1) == ERR_UNSUPPORTED);
    return 0;
}
