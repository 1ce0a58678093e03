/* The settings of a program's request (docs/SERIAL.md): for conversations and for batches. */
#ifndef INGOT_RUNTIME_JSON_SETTINGS_H
#define INGOT_RUNTIME_JSON_SETTINGS_H

#include "board/err.h"
#include "runtime/wire/json_request.h"
#include "runtime/options/options.h"

/* Set the option of a field of the request; the fields from JSON_FIELD_OPTIONS on are options. Stop
 * strings, one or a list, replace the previous ones; "" means none. The values may be overwritten.
 * Errors as options_set. */
enum err json_request_set(struct json_request *r, enum json_field field, struct options *o,
                          const struct options_report *report);

#endif
