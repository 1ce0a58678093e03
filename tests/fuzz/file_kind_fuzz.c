/* The recognition of files, over arbitrary bytes and in every place: each refusal has an error
 * message. */
#include <stdint.h>
#include <stdlib.h>

#include "flash_image/source/file_kind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (file_kind_of(data, size) >= FILE_KINDS) {
        abort();
    }
    for (int place = 0; place < FILE_PLACES; place++) {
        char error_message[320] = "";

        if (!file_kind_suits((enum file_place)place, data, size, error_message,
                             sizeof error_message) &&
            (error_message[0] != 'i' || file_kind_of(data, size) == FILE_UNKNOWN)) {
            abort();
        }
    }
    return 0;
}
