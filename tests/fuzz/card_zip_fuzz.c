/* Zip archives of firmware, over arbitrary bytes: names lie in the archive, and what is unpacked has its checksum. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/card/card_zip.h"
#include "runtime/storage/partitions.h"

enum { MOST = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t whole[MOST];
    uint8_t *copy = malloc(size + 1), *out = malloc(MOST);
    struct card_zip z;
    struct card_zip_entry e;

    if (copy == NULL || out == NULL) {
        abort();
    }
    memcpy(copy, data, size);
    if (card_zip_open(&z, copy, size) == NULL) {
        while (card_zip_next(&z, &e)) {
            if ((const uint8_t *)e.name < copy ||
                (const uint8_t *)e.name + e.name_bytes > copy + size) {
                abort();
            }
            if (e.bytes <= MOST && card_zip_read(&z, &e, out) == NULL &&
                partitions_crc32(0, out, (uint32_t)e.bytes) != e.crc32) {
                abort();
            }
        }
    }
    /* Takes what is in an archive alone: most changes of an archive are found before. */
    (void)card_inflate(copy, size, whole, sizeof whole);
    free(copy);
    free(out);
    return 0;
}
