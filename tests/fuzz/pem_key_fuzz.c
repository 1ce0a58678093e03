/* Any text as a key: it is refused with an error message, or its public half begins as a point
 * does. */
#include <stdlib.h>

#include "flash_image/signing/pem_key.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
    if (!condition) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *error_message = NULL;
    struct pem_key key;
    enum err e = pem_key_read(&key, (const char *)data, size, &error_message);

    must((e == ERR_OK) == (error_message == NULL));
    must(e != ERR_OK || key.is_private || key.has_public);
    must(e != ERR_OK || !key.has_public || key.public[0] == 4);
    return 0;
}
