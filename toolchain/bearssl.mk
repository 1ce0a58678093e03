# BearSSL, which checks signatures (docs/SIGNING.md): the distribution's source; an image with a key and the static programs contain a few of its
# files. The Linux program takes the distribution's library (libbearssl-dev).

BEARSSL := $(O)/bearssl/source
# ECDSA over P-256, checked: what ecdsa_p256.c needs ...
BEARSSL_CHECKS := $(addprefix src/,$(addsuffix .c,codec/ccopy \
    $(addprefix ec/,ecdsa_i31_vrfy_raw ecdsa_i31_bits ec_p256_m31 ec_secp256r1 ec_secp384r1 ec_secp521r1) \
    $(addprefix int/,i31_add i31_sub i31_bitlen i31_decmod i31_decode i31_encode i31_fmont i31_tmont i31_iszero \
                     i31_modpow i31_montmul i31_muladd i31_ninv31 i31_rshift i32_div32)))
# ... and signed, by programs.
BEARSSL_SIGNS := $(BEARSSL_CHECKS) $(addprefix src/,$(addsuffix .c,ec/ecdsa_i31_sign_raw rand/hmac_drbg mac/hmac \
    hash/sha2small codec/dec32be codec/enc32be int/i31_decred))

$(BEARSSL)/inc/bearssl.h:
	$(Q)toolchain/fetch_source.sh bearssl $(BEARSSL)

# The listed files have no rules, because they come with the source.
BEARSSL_MADE_OF := $(BEARSSL)/inc/bearssl.h toolchain/bearssl.mk

# $(1): the archive, $(2): the compiler with its flags, $(3): prefix of the tools, $(4): files. The objects must not contain the path of this folder:
# equal sources give equal bytes.
define bearssl_archive
$(1): $(BEARSSL_MADE_OF) $(5)
	$$(call say,BEARSSL,$$@)
	$$(Q)rm -rf $(1).obj && mkdir -p $(1).obj
	$$(Q)for f in $(4); do \
	    $(2) -g0 -ffunction-sections -fdata-sections -fno-strict-aliasing -ffile-prefix-map=$$(call quote,$$(abspath $(BEARSSL)))=bearssl \
	        -I$(BEARSSL)/inc -I$(BEARSSL)/src -c $(BEARSSL)/$$$$f -o $(1).obj/$$$$(basename $$$$f).o || exit 1; done
	$$(Q)rm -f $$@ && $(3)ar rcsD $$@ $(1).obj/*.o
endef

# ---- an image with a key -----------------------------------------------------------------------

# KEY is the file of the public key for signatures of models and adapters; if it is empty, nothing below is built.
KEY ?=

ifneq ($(ISA),)
# The folder of the freestanding compiler's limits.h, which newlib's limits.h includes.
FIXED_INCLUDE := $(addprefix -isystem ,$(wildcard $(filter /%,$(shell $(CROSS_COMPILE)gcc -print-file-name=include-fixed 2>/dev/null))))
$(eval $(call bearssl_archive,$(O)/bearssl/$(ISA)/libbearssl.a,$(CROSS_COMPILE)gcc -std=c99 $(SMALL) $(ISA_CFLAGS) $(NEWLIB_INCLUDE) $(FIXED_INCLUDE) -fno-pie -fno-pic -fno-omit-frame-pointer -fstack-protector-strong,$(CROSS_COMPILE),$(BEARSSL_CHECKS),| $(NEWLIB_READY)))

KEY_FILE = $(KEY)
$(B)/gen/signing_key.inc: FORCE
	$(call write_if_changed,$(PYTHON) toolchain/signing_key.py $(call quote,$(KEY_FILE)))

SIGNED_OBJ := $(B)/obj/boot/signing.c.o $(OF_KEYS:%=$(B)/obj/%.o)
SIGNED_PARTS := $(O)/bearssl/$(ISA)/libbearssl.a
$(B)/obj/boot/signing.c.o: $(B)/gen/signing_key.inc
$(B)/obj/boot/signing.c.o: IMAGE_CFLAGS += -I$(B)/gen
$(B)/obj/runtime/image/ecdsa_p256.c.o: $(BEARSSL)/inc/bearssl.h
$(B)/obj/runtime/image/ecdsa_p256.c.o: IMAGE_CFLAGS += -isystem $(BEARSSL)/inc
$(SIGNED_OBJ): IMAGE_CFLAGS += $(SMALL)
-include $(SIGNED_OBJ:.o=.d)

# The image is linked again if a key was added or removed.
$(B)/key.made-of: FORCE
	$(call write_if_changed,echo $(if $(KEY),key,none))
endif
