# The demo model is trained only from the scripts in models/, and packed from models/demo.

TRAINED := $(O)/demo
DEMO_THREADS ?= $(JOBS)

.PHONY: train-demo train-mixture pack-demo evaluate-demo acting-real

# Rows are written once; training continues where it stopped.
train-demo: $(H)/ingot ## train the demo model anew with PyTorch and pack it; up to an hour
	$(Q)$(PYTHON) -c 'import numpy, torch' 2>/dev/null || { \
	    echo "PyTorch is missing: apt-get install python3-torch libopenblas0-openmp," \
	         "or give PYTHON= one that has it"; exit 1; }
	$(Q)test -s $(TRAINED)/rows-last.bin || $(PYTHON) models/training/rows.py $(TRAINED)
	$(Q)$(PYTHON) models/training/train.py $(TRAINED) --threads $(DEMO_THREADS)
	$(Q)$(PYTHON) models/training/export.py $(TRAINED) models/demo
	$(Q)$(MAKE) --no-print-directory pack-demo

# Trained from the weights of models/demo and the rows of train-demo. Its unpacked weights stay in the build folder.
train-mixture: $(H)/ingot ## train the demo mixture of experts anew with PyTorch and pack it; a quarter of an hour
	$(Q)test -s $(TRAINED)/rows-last.bin || $(PYTHON) models/training/rows.py $(TRAINED)
	$(Q)$(PYTHON) models/training/train_mixture.py $(TRAINED) $(O)/mixture --threads $(DEMO_THREADS)
	$(Q)$(PYTHON) models/training/export_mixture.py $(O)/mixture $(O)/mixture/folder
	$(Q)$(H)/ingot pack $(O)/mixture/folder -o models/mixture-q4_0.ingot --type q4_0 -q
	$(Q)ls -l models/mixture-q4_0.ingot

pack-demo: $(H)/ingot ## models/demo-q8_0.ingot and demo-q4_0.ingot from models/demo
	$(Q)for t in q8_0 q4_0; do \
	    $(H)/ingot pack models/demo -o models/demo-$$t.ingot --type $$t -q || exit 1; done
	$(Q)ls -l models/demo-*.ingot

evaluate-demo: $(H)/ingot ## ask the demo model and the mixture 200 held-out prompts, and the demo model for 100 actions
	$(Q)INGOT_BUILD=$(O) $(PYTHON) models/evaluate.py -v models/demo-q8_0.ingot models/demo-q4_0.ingot models/mixture-q4_0.ingot
	$(Q)INGOT_BUILD=$(O) $(PYTHON) models/evaluate_acting.py -v models/demo-q8_0.ingot models/demo-q4_0.ingot

acting-real: $(H)/ingot ## ask SmolLM2-135M, which was not trained to act, 138 sentences (make model NAME=smollm2-135m first)
	INGOT_BUILD=$(call quote,$(abspath $(O))) tests/golden/acting_real.t tuned untouched
