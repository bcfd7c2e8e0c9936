# SPDX-License-Identifier: GPL-2.0-only
# libhipec, the hipec command, and hpt, which runs the VM core's test files.

# Cases from .hpt files; the portable half of module/tests runs them.
CASE_SRC := $(addprefix userlib/,hptfile.c hptcase.c hptexpect.c asm.c \
	mkimage.c) $(addprefix module/tests/,vmcase.c fakehost.c invariants.c)
HPT_SRC := $(addprefix userlib/,hpt.c hptcover.c hptrun.c) $(CASE_SRC)

$(B)/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/userlib/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c $< -o $@

$(B)/asan/userlib/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/asan/userlib/tests/%.o: module/tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) -c $< -o $@

# $(call userlib_obj,DIR,SOURCES): their objects under DIR.
userlib_obj = $(patsubst userlib/%.c,$(1)/userlib/%.o,$(patsubst \
	module/tests/%.c,$(1)/userlib/tests/%.o,$(2)))

$(B)/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -o $@

$(B)/asan/hpt: $(call userlib_obj,$(B)/asan,$(HPT_SRC)) $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

$(B)/static/hpt: $(call userlib_obj,$(B),$(HPT_SRC)) $(B)/libhipecvm.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -o $@

# For the tests only, so not in ALL.
$(B)/asan/imgtorture: $(call userlib_obj,$(B)/asan,userlib/imgtorture.c \
		$(CASE_SRC)) $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -o $@

ALL += $(B)/hpt

$(B)/userlib/pic/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -c $< -o $@

# Its number changes when programs that are linked with it would not work any more.
SONAME := libhipec.so.0

$(B)/libhipec.a: $(B)/userlib/libhipec.o $(B)/userlib/liblive.o
	$(AR) rcs $@ $^

$(B)/libhipec.so: $(B)/userlib/pic/libhipec.o $(B)/userlib/pic/liblive.o userlib/libhipec.map
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,$(SONAME) \
		-Wl,--version-script=userlib/libhipec.map -Wl,--no-undefined-version \
		$(LDFLAGS) $(filter %.o,$^) -o $@
	ln -sf libhipec.so $(B)/$(SONAME)

ALL += $(B)/libhipec.a $(B)/libhipec.so

# Traces: what they are in memory, their forms, and what makes and counts them.
TRACE_SRC := $(addprefix userlib/,record.c simtrace.c trace.c tracebin.c tracefds.c tracein.c \
	tracelog.c traceobj.c tracerecord.c tracesniff.c tracestrace.c tracetext.c)
TRACE_LIBS := -lzstd -lm
PLAY_LIBS := -lblkid -lm

# A trace through a policy, or several of them; run_watched.o belongs to it.
# What a detector of access patterns feeds it comes from amp.c.
AMP_SRC := $(addprefix userlib/,amp.c ampdear.c ampfeed.c amploop.c amptrial.c ampkind.c amplist.c ampowner.c ampstate.c)
SIM_SRC := $(addprefix userlib/,beside.c mixpool.c sim.c simcontract.c simfeed.c simhost.c simpolicy.c \
	simpost.c simwatch.c) $(AMP_SRC)

# The interpreter once more, telling simwatch.c of each command.
WATCHED := -ffreestanding -DHIPEC_VM_STEP -Dhipec_vm_run=hipec_vm_run_watched

$(B)/userlib/run_watched.o: module/vm/run.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(WATCHED) -c $< -o $@

$(B)/asan/userlib/run_watched.o: module/vm/run.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(WATCHED) -c $< -o $@

# For the tests only: what a watcher of a simulation is told, as text.
$(B)/asan/watchdump: $(call userlib_obj,$(B)/asan,$(addprefix userlib/,watchdump.c \
		libhipec.c) $(SIM_SRC) $(TRACE_SRC)) \
		$(B)/asan/userlib/run_watched.o $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(TRACE_LIBS) -o $@

# For the tests only: samples as a container gives them, through hipec run's loop.
$(B)/asan/amploopdump: $(call userlib_obj,$(B)/asan,$(addprefix userlib/,amploopdump.c \
		libhipec.c) $(SIM_SRC) $(TRACE_SRC)) \
		$(B)/asan/userlib/run_watched.o $(B)/asan/libhipecvm.a
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ $(TRACE_LIBS) -o $@

# What hipec profile makes pages and texts with, beside the command.
PROFILE_PY := $(wildcard userlib/profile/*.py)

$(B)/profile/%.py: userlib/profile/%.py
	@install -D $< $@

$(B)/asan/profile/%.py: userlib/profile/%.py
	@install -D $< $@

ALL += $(PROFILE_PY:userlib/%=$(B)/%)

# Needs libedit-dev, libjson-c-dev, libzstd-dev and libblkid-dev; the last three have
# the static libraries too.
CLI_SRC := $(addprefix userlib/,asm.c cli.c cli_amp.c cli_amp_detect.c cli_amp_feed.c cli_amp_hints.c cli_amp_report.c cli_amp_show.c cli_cputime.c cli_debug.c cli_dis.c cli_doctor.c cli_live.c cli_log.c cli_metrics.c cli_swap.c cli_trial.c cli_why.c cli_mix.c cli_mix_file.c cli_mix_profile.c \
	cli_mix_table.c cli_play.c cli_profile.c cli_program.c cli_record.c cli_replay.c cli_run.c cli_run_amp.c \
	cli_run_region.c cli_run_report.c cli_run_serve.c cli_sim.c cli_sim_args.c \
	cli_sim_feed.c cli_sim_json.c cli_sim_param.c cli_sim_progress.c cli_sim_rows.c cli_sim_table.c \
	cli_sim_verdict.c cli_state.c cli_status.c cli_table.c cli_top.c cli_trace.c cli_traceprog.c debug.c \
	debugcommand.c debugline.c debugprint.c debugshow.c debugsource.c debugstop.c \
	debugwhy.c doctor.c elffile.c headtext.c mix.c play.c playtarget.c profile.c profile_json.c \
	recordvm.c replay.c runproto.c simref.c tracechan.c traceinfo.c tracemake.c) $(SIM_SRC) $(TRACE_SRC)
CLI_OBJ := $(call userlib_obj,$(B),$(CLI_SRC)) $(B)/userlib/run_watched.o \
	$(B)/compiler/sha256.o $(B)/libhipec.a $(B)/libhipecvm.a

# debugline.c has it if it is there: nothing but a weak symbol asks for it.
EDIT := -Wl,--no-as-needed -ledit

# The kernels that the module is tested on.
$(B)/userlib/doctor.o $(B)/asan/userlib/doctor.o: CPPFLAGS += -DHIPEC_KERNELS='"$(KERNELS)"'

# It takes the compiler's hash, whose header is found as the compiler finds it.
$(B)/userlib/debugsource.o $(B)/asan/userlib/debugsource.o: CPPFLAGS += -Imodule

$(B)/hipec: $(CLI_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ -ljson-c $(TRACE_LIBS) $(PLAY_LIBS) $(EDIT) -o $@

# For the tests only, so not in ALL.
$(B)/asan/hipec: $(call userlib_obj,$(B)/asan,$(CLI_SRC) userlib/libhipec.c userlib/liblive.c) \
		$(B)/asan/userlib/run_watched.o $(B)/asan/compiler/sha256.o \
		$(B)/asan/libhipecvm.a | $(PROFILE_PY:userlib/%=$(B)/asan/%)
	$(CC) $(ALL_CFLAGS) $(SANITIZE) $(LDFLAGS) $^ -ljson-c $(TRACE_LIBS) $(PLAY_LIBS) $(EDIT) -o $@

# For a guest or an initramfs, which have no libraries, nor libedit.
$(B)/static/hipec: $(CLI_OBJ)
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -static $(LDFLAGS) $^ -ljson-c $(TRACE_LIBS) $(PLAY_LIBS) -o $@

ALL += $(B)/hipec

# What hipec trace has loaded into the programs that it traces.
TRACER_SRC := $(addprefix userlib/,tracer.c tracer_exec.c tracer_io.c tracer_map.c \
	tracer_stack.c tracer_stdio.c)
TRACER_CONTEXT := stack.o buildid.o

$(B)/userlib/tracer/%.o: userlib/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -fno-omit-frame-pointer -c $< -o $@

$(B)/userlib/tracer/%.o: module/context/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -fno-omit-frame-pointer -c $< -o $@

$(B)/libhipectrace.so: $(TRACER_SRC:userlib/%.c=$(B)/userlib/tracer/%.o) \
		$(TRACER_CONTEXT:%=$(B)/userlib/tracer/%)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libhipectrace.so $(LDFLAGS) $^ -o $@

$(B)/asan/libhipectrace.so: $(B)/libhipectrace.so
	ln -sf ../$(<F) $@

# What hipec run has loaded into the programs whose maps it makes regions.
PRELOAD_SRC := $(addprefix userlib/,preload.c preload_area.c preload_ask.c preload_choose.c \
	runproto.c)

$(B)/libhipecrun.so: $(PRELOAD_SRC:userlib/%.c=$(B)/userlib/tracer/%.o)
	$(CC) $(ALL_CFLAGS) -shared -Wl,-soname,libhipecrun.so $(LDFLAGS) $^ -o $@

$(B)/asan/libhipecrun.so: $(B)/libhipecrun.so
	ln -sf ../$(<F) $@

ALL += $(B)/libhipectrace.so $(B)/libhipecrun.so
