/* The kinds of files, over arbitrary bytes, in every place: each refusal has a sentence. */
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
        char problem[320] = "";

        if (!file_kind_suits((enum file_place)place, data, size, problem, sizeof problem) &&
            (problem[0] != 'i' || file_kind_of(data, size) == FILE_UNKNOWN)) {
            abort();
        }
    }
    return 0;
}
