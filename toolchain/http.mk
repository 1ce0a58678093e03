# llhttp and wslay, with which `ingot serve` speaks HTTP and WebSockets: the distribution's node-llhttp has the parser's C files, libwslay-dev has the
# library. If one of them is missing, the Linux program has no server, and says what to install.

LLHTTP ?= /usr/share/llhttp
LLHTTP_INCLUDE ?= /usr/share/include/llhttp
LLHTTP_SRC := $(addprefix $(LLHTTP)/,llhttp.c api.c http.c)
HTTP ?= $(if $(word 3,$(wildcard $(LLHTTP_SRC))),$(shell printf '\#include <llhttp.h>\n\#include <wslay/wslay.h>\n' | \
    $(HOST_CC) -I$(LLHTTP_INCLUDE) -E -x c - >/dev/null 2>&1 && echo yes))

# Objects of the parser, below obj/.
LLHTTP_OBJ :=
# Sources that include the parser's headers: files of the program, and their tests.
HTTP_SRC := $(wildcard runtime/http/*.c) $(addprefix host/serve/,serve_http.c serve_http_missing.c serve_socket.c serve_room.c serve_ws.c)
HTTP_FLAGS := -DINGOT_HTTP -isystem $(LLHTTP_INCLUDE)
HTTP_TESTS := $(patsubst tests/unit/%_test.c,$(O)/tests/unit/%.t,$(wildcard tests/unit/http/*_test.c)) $(addprefix $(O)/tests/fuzz/,http http_range)

ifneq ($(HTTP),)
LLHTTP_OBJ := $(addprefix llhttp/,llhttp.c api.c http.c)
HOST_LIBS += -lwslay
$(HTTP_TESTS) $(foreach to,host asan tsan libfuzzer,$(HTTP_SRC:%=$(O)/$(to)/obj/%.o)): HOST_CFLAGS += $(HTTP_FLAGS)

# $(1): the folder of objects; $(2): flags. Warnings in the parser are ignored.
define llhttp_rule
$(1)/obj/llhttp/%.o: $(LLHTTP)/% Makefile toolchain/http.mk
	$$(call say,LLHTTP,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(HOST_CC) $$(HOST_CFLAGS) -w -isystem $(LLHTTP_INCLUDE) $(2) -c $$< -o $$@
endef
endif
