#include "host/card/hss_payload.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "flash_image/source/source.h"
#include "runtime/storage/partitions.h"

/* struct HSS_BootImage in the layout of a 64-bit compiler. Version 0, which has no signature, is
 * shorter. */
enum {
    AT_VERSION = 4,
    AT_CRC = 16,
    AT_LENGTH = 1480,
    AT_SIGNATURE = 1488,
    HEAD_BYTES = 1632,
    HEAD_BYTES_0 = 1552,
    MOST_BYTES = 2 << 20, /* mHSS_MAX_BOOT_IMAGE_SIZE */
};
#define MAGIC_COMPRESSED 0xc08b8355u

/* True if the checksum is right; it covers neither itself nor the signature. */
static bool has_its_sum(const uint8_t head[HEAD_BYTES])
{
    uint8_t copy[HEAD_BYTES] = { 0 };

    memcpy(copy, head, AT_SIGNATURE);
    memset(copy + AT_CRC, 0, 4);
    return load_u32(head + AT_CRC) ==
           partitions_crc32(0, copy, load_u32(head + AT_VERSION) == 0 ? HEAD_BYTES_0 : HEAD_BYTES);
}

static bool check(const uint8_t head[HEAD_BYTES], size_t n, uint64_t file_bytes,
                  char *error_message, size_t bytes)
{
    uint64_t length = load_u64(head + AT_LENGTH);

    /* Refuse a compressed payload: HSS would read the length from the field of a plain payload, and
     * unpack over the packed bytes. */
    if (load_u32(head) == MAGIC_COMPRESSED)
        snprintf(error_message, bytes, "it is compressed, which HSS does not take from a card");
    else if (n < HEAD_BYTES)
        snprintf(error_message, bytes, "it ends after %zu bytes, within its header", n);
    else if (!has_its_sum(head))
        snprintf(error_message, bytes, "its header is damaged: copy it again");
    else if (length > MOST_BYTES)
        snprintf(error_message, bytes, "it has %" PRIu64 " bytes, and HSS takes %d at most", length,
                 MOST_BYTES);
    else if (length > file_bytes)
        snprintf(error_message, bytes,
                 "it ends after %" PRIu64 " of its %" PRIu64 " bytes: copy all of it", file_bytes,
                 length);
    else
        return true;
    return false;
}

bool hss_payload_check(const char *path, char *error_message, size_t bytes)
{
    uint8_t head[HEAD_BYTES] = { 0 };
    FILE *file = fopen(path, "rb");
    struct stat about;
    size_t n = 0;

    snprintf(error_message, bytes, "it is empty");
    if (file == NULL || fstat(fileno(file), &about) != 0)
        snprintf(error_message, bytes, "it cannot be read");
    else
        n = fread(head, 1, sizeof head, file);
    if (file != NULL)
        fclose(file);
    return n != 0 && check(head, n, (uint64_t)about.st_size, error_message, bytes);
}

/* Return the first position of `text` from `at` on; n if it does not occur. */
static size_t find(const uint8_t *all, size_t n, size_t at, const char *text)
{
    size_t bytes = strlen(text);

    while (at + bytes <= n && memcmp(all + at, text, bytes) != 0)
        at++;
    return at + bytes <= n ? at : n;
}

/* True if the text has a version before 2022.04, such as "U-Boot 2022.01-linux4microchip". */
static bool is_old(const uint8_t *all, size_t n)
{
    static const char name[] = "U-Boot 20", first[] = "U-Boot 2022.04";

    for (size_t at = find(all, n, 0, name); at != n; at = find(all, n, at + 1, name)) {
        if (at + sizeof first - 1 <= n && all[at + strlen("U-Boot 2022")] == '.' &&
            memcmp(all + at, first, sizeof first - 1) < 0)
            return true;
    }
    return false;
}

bool hss_payload_starts_cards(const char *path)
{
    uint8_t *all = malloc(MOST_BYTES);
    FILE *file = fopen(path, "rb");
    size_t n = all != NULL && file != NULL ? fread(all, 1, MOST_BYTES, file) : 0;
    bool starts;

    /* HSS does not load the bytes that follow the payload in a partition. */
    if (n >= HEAD_BYTES && load_u64(all + AT_LENGTH) < n)
        n = (size_t)load_u64(all + AT_LENGTH);
    starts = find(all, n, 0, "kernel_addr_r=") != n && !is_old(all, n);
    if (file != NULL)
        fclose(file);
    free(all);
    return starts;
}
