/* config.json over arbitrary bytes: what the reader accepts is within its bounds. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "flash_image/hf/hf_config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct source source;
    struct hf_config c;
    enum err e;

    memset(&source, 0, sizeof source);
    source.path = "fuzz";
    e = hf_config_read(&source, data, size, &c);
    if (e == ERR_OK ? source_check_params(&source) != ERR_OK || c.family == NULL
                    : source.error_message[0] == '\0') {
        abort();
    }
    return 0;
}
