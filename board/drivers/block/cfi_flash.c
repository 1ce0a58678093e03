/* Sections and tables are those of JEDEC JESD68.01 (Common Flash Interface) and JEP137 (command
 * sets); two 16-bit chips form a bank that is 4 bytes wide. */
#include "board/drivers/block/cfi_flash.h"

#include <string.h>

#include "board/drivers/dma/dma.h"
#include "board/drivers/soc/device_name.h"
#include "board/memory_device.h"

enum {
    BANK_BYTES = 4, /* bus width: a chip's word n is at byte 4 n of the bank */
    CHIPS = 2,
    COMMAND_QUERY = 0x98, /* at word 0x55 */
    COMMAND_READ_ARRAY = 0xff,
    WORD_COMMAND = 0x55,
    WORD_SIGNATURE = 0x10, /* "QRY" in three words */
    WORD_SIZE = 0x27,      /* log2 of one chip's size in bytes */
    MAX_SIZE = 32,
};

static volatile uint32_t *cfi_word(const struct cfi_flash *flash, unsigned word)
{
    return (volatile uint32_t *)(flash->base + (uintptr_t)word * BANK_BYTES);
}

/* Send a command to both chips, which must give the same answer. */
static void cfi_command(const struct cfi_flash *flash, unsigned word, uint32_t command)
{
    *cfi_word(flash, word) = command | command << 16;
    dma_barrier();
}

/* The low byte of the chips' answers, or -1 if they differ. */
static int cfi_answer(const struct cfi_flash *flash, unsigned word)
{
    uint32_t value = *cfi_word(flash, word);

    if ((value & 0xffff) != value >> 16)
        return -1;
    return (int)(value & 0xff);
}

static enum err cfi_query_size(const struct cfi_flash *flash, uint64_t *bytes)
{
    static const char signature[3] = { 'Q', 'R', 'Y' };
    int size;

    for (unsigned i = 0; i < sizeof signature; i++) {
        if (cfi_answer(flash, WORD_SIGNATURE + i) != signature[i])
            return ERR_NO_DEVICE;
    }
    size = cfi_answer(flash, WORD_SIZE);
    if (size < 9 || size > MAX_SIZE)
        return ERR_NO_DEVICE;
    *bytes = (uint64_t)CHIPS << size;
    return ERR_OK;
}

enum err cfi_flash_probe(struct cfi_flash *state, uintptr_t base, size_t bytes,
                         struct block_device *out)
{
    enum err e;

    memset(state, 0, sizeof *state);
    state->base = base;
    if (bytes < (WORD_SIZE + 1) * BANK_BYTES)
        return ERR_NO_DEVICE;
    device_name_set(state->name, "CFI flash at ", base);
    cfi_command(state, 0, COMMAND_READ_ARRAY);
    cfi_command(state, WORD_COMMAND, COMMAND_QUERY);
    e = cfi_query_size(state, &state->bytes);
    cfi_command(state, 0, COMMAND_READ_ARRAY); /* reads now return the contents */
    if (e != ERR_OK)
        return e;
    if (state->bytes > bytes)
        state->bytes = bytes; /* the part of the chips that the window shows */
    memory_device_open(out, state->name, (const uint8_t *)base, state->bytes);
    return ERR_OK;
}
