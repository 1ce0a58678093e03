/* The check of signatures against published vectors, and bad ones. */
#ifndef INGOT_RUNTIME_ECDSA_SELFTEST_H
#define INGOT_RUNTIME_ECDSA_SELFTEST_H

/* RFC 6979, A.2.5, with SHA-256; each of them damaged in every way that a verifier must see; a
 * key that is no point. NULL: all is well; else what went wrong, a noun. */
const char *ecdsa_selftest(void);

#endif
