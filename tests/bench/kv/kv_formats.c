/* The types of every board and those for measurements in one table: this stands in for runtime/compute/kv_format.c. */
#include "tests/bench/kv/kv_code.h"

#define KV_MORE_ROWS "tests/bench/kv/kv_rows.inc"
#include "runtime/compute/kv_format.c"
