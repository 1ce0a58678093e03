/* The key that this image takes models by, where it was built with one (make image KEY=public.pem). */
#ifndef INGOT_BOOT_SIGNING_H
#define INGOT_BOOT_SIGNING_H

#include "runtime/image/signing.h"

/* NULL: none, and any model will do. */
const struct signing *boot_signing(void);

#endif
