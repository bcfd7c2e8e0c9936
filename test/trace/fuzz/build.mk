# SPDX-License-Identifier: GPL-2.0-only
# Fuzzing of the readers of traces: damaged ones in ring 1, libFuzzer by hand.

$(B)/asan/test/trace/fuzz/%.o: test/trace/fuzz/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

TRACE_FUZZ_SRC := test/trace/fuzz/judge.c $(TRACE_SRC)

$(B)/asan/trace-fuzz: $(B)/asan/test/trace/fuzz/judge.o \
		$(call userlib_obj,$(B)/asan,$(filter userlib/%,$(TRACE_FUZZ_SRC))) \
		$(B)/asan/libhipecvm.a
	$(LINK) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(TRACE_LIBS) -o $@

FAST += $(B)/asan/trace-fuzz

$(B)/fuzz/trace: $(TRACE_FUZZ_SRC) $(VM_SRC)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(filter-out -MMD -MP,$(ALL_CFLAGS)) -DTRACE_LIBFUZZER \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		$^ $(TRACE_LIBS) -o $@

.PHONY: fuzz-traces fuzz-traces-run
## fuzz-traces: look for traces that upset their readers, for FUZZ_SECONDS=60
fuzz-traces: packages fuzz-packages
	@$(MAKE) --no-print-directory fuzz-traces-run

fuzz-traces-run: $(B)/fuzz/trace
	@mkdir -p $(B)/fuzz/found/trace $(B)/fuzz/failed/trace
	$< -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=10 \
		-artifact_prefix=$(B)/fuzz/failed/trace/ $(B)/fuzz/found/trace
