/* Implements boot/signing.h for an image without a key; it needs no code that checks signatures. */
#include "boot/signing.h"

const struct signing *boot_signing(void)
{
    return NULL;
}
