# SPDX-License-Identifier: GPL-2.0-only
# ampc that counts its steps: test/compiler/test_compiler_growth.py.

COUNT_FLAGS := -O1 -fsanitize-coverage=trace-pc

$(B)/count/compiler/%.o: compiler/%.c | $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(COUNT_FLAGS) $(AMPC_CPPFLAGS) -c $< -o $@

$(B)/count/compiler/%.o: $(B)/compiler/%.c $(B)/compiler/parser.h
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(AMPC_GENERATED_WARN) $(COUNT_FLAGS) $(AMPC_CPPFLAGS) \
		-c $< -o $@

$(B)/count/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(COUNT_FLAGS) -c $< -o $@

$(B)/count/%.o: module/%.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) $(COUNT_FLAGS) -c $< -o $@

# Without the flag: it is what counts.
$(B)/count/count.o: test/compiler/count.c
	@mkdir -p $(@D)
	$(COMPILE) $(ALL_CFLAGS) -c $< -o $@

$(B)/count/ampc: $(AMPC_OBJ:%=$(B)/count/compiler/%) \
		$(AMPC_ASM:%=$(B)/count/%) \
		$(VM_SRC:module/%.c=$(B)/count/%.o) \
		$(B)/count/count.o
	$(LINK) $(ALL_CFLAGS) $(LDFLAGS) $^ $(HASH_LIBS) -o $@

FAST += $(B)/count/ampc
