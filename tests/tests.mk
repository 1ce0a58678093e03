# The suites. Each is a folder of TAP programs run by prove; `make test` runs them all.

PROVE := prove --timer -j$(JOBS)
TEST_ENV = INGOT_BUILD=$(abspath $(O)) INGOT_ASSETS=$(abspath $(ASSETS)) PYTHON=$(PYTHON)

.PHONY: test test-unit

test-unit: $(UNIT) ## unit tests, hosted, under ASan and UBSan
	$(Q)$(TEST_ENV) $(PROVE) $(sort $(UNIT))
