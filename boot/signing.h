/* The key whose signatures this image requires, if it was built with one (make image
 * KEY=public.pem). */
#ifndef INGOT_BOOT_SIGNING_H
#define INGOT_BOOT_SIGNING_H

#include "runtime/image/signing.h"

/* Returns NULL if there is no key, so that every model is accepted. */
const struct signing *boot_signing(void);

#endif
