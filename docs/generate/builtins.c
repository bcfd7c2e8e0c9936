// SPDX-License-Identifier: GPL-2.0-only
/*
 * For docs/policy/commands.md: how a policy's source writes each command. The calls are
 * what the compiler itself says of them; the examples are compiled by a test, with
 * the declarations of docs/policy/language.md.
 *
 * Interface:
 * print_builtins()  -1, said, if a command of the table is not here
 */
#include "builtins.h"
#include "../compiler/ampc.h"

/* Of the commands that are called by their names. */
static const char *const examples[256] = {
	[HIPEC_OP_EMPTYQ] =
		"if (EmptyQ(q))\n"
		"\treturn;\n",
	[HIPEC_OP_INQ] =
		"if (InQ(page, other))\n"
		"\tEnQueue(page, q, TAIL);\n",
	[HIPEC_OP_DEQUEUE] =
		"while (page = DeQueue(q, HEAD))\n"
		"\tEnQueue(page, other, TAIL);\n",
	[HIPEC_OP_ENQUEUE] =
		"EnQueue(page, levels[i], HEAD);\n"
		"if (!EnQueue(page, _free_queue, TAIL))  // it cannot go now\n"
		"\tEnQueue(page, other, TAIL);\n",
	[HIPEC_OP_REQUEST] =
		"n = Request(8);                         // 0 to 8\n"
		"if (Request(n))                         // all of them\n"
		"\tn = 0;\n",
	[HIPEC_OP_RELEASE] =
		"while (Length(q) > limit)\n"
		"\tRelease(DeQueue(q, HEAD));\n",
	[HIPEC_OP_FLUSH] =
		"if (Mod(page))\n"
		"\tFlush(page);\n",
	[HIPEC_OP_SET] =
		"Set(page, REFERENCE, RESET);\n"
		"if (!Set(page, MODIFIED, SET))          // it may not be written\n"
		"\tn++;\n",
	[HIPEC_OP_REF] =
		"page.age = page.age >> 1 | Ref(page) << 7;\n",
	[HIPEC_OP_MOD] =
		"victim = Mod(page) ? Next(page, TAIL) : page;\n",
	[HIPEC_OP_FINDVA] =
		"n = FindVA(page) >> 12;                 // its number\n",
	[HIPEC_OP_FINDPA] =
		"page = FindPA(FaultedAddress);\n"
		"if (FindPA(FaultedAddress + 4096))      // so is the page behind it\n"
		"\tn++;\n",
	[HIPEC_OP_MAP] =
		"if (!Map(page))\n"
		"\tn++;                            // soft faults to come\n",
	[HIPEC_OP_UNMAP] =
		"UnMap(page);                            // Access tells of the next touch\n",
	[HIPEC_OP_LENGTH] =
		"n = Length(q) + Length(_free_queue);\n",
	[HIPEC_OP_PEEK] =
		"if ((page = Peek(byage, HEAD)) && page.age < limit)\n"
		"\tEnQueue(page, _free_queue, TAIL);\n",
	[HIPEC_OP_NEXT] =
		"for (page = Peek(q, HEAD); page; page = Next(page, TAIL))\n"
		"\tpage.age++;\n",
	[HIPEC_OP_RESIDENT] =
		"page = FindPA(FaultedAddress);\n"
		"if (page && !Resident(page))            // a ghost\n"
		"\tpage.uses++;\n",
	[HIPEC_OP_COPY] =
		"victim = Copy(page);\n"
		"victim = page;                          // the same\n",
	[HIPEC_OP_SAME] =
		"if (Same(page, victim))\n"
		"\tn++;\n"
		"if (page == victim)                     // the same\n"
		"\tn++;\n",
	[HIPEC_OP_PAGEAT] =
		"for (i = 0; i < PageEntries; i++)\n"
		"\tif (page = PageAt(i))\n"
		"\t\tSet(page, REFERENCE, RESET);\n",
	[HIPEC_OP_RANDOM] =
		"page = PageAt(Random(PageEntries));     // or none\n",
	[HIPEC_OP_PREFETCH] =
		"Prefetch(FaultedAddress + 65536, 1);    // a stride that only the policy knows\n"
		"n = Prefetch(n, 8);                     // 0 to 8\n",
	[HIPEC_OP_SKETCHADD] =
		"SketchAdd(list, FaultedAddress, 10 * FrameBudget);\n",
	[HIPEC_OP_SKETCHGET] =
		"if (SketchGet(list, FindVA(page)) < SketchGet(list, FindVA(victim)))\n"
		"\tvictim = page;                  // it was used less often\n",
};

/* Of those that the language has a sign for. */
static const char *const signs[256] = {
	[HIPEC_OP_RETURN] = "return;\n",
	[HIPEC_OP_ARITH] = "a = (b + c) * 2 % ~n;\n" "a <<= 3;\n" "a++;\n",
	[HIPEC_OP_COMP] = "if (a < b)\n" "\tn++;\n",
	[HIPEC_OP_LOGIC] = "a = !b;\n",
	[HIPEC_OP_JUMP] = "while (TRUE)\n" "\tif (n++ > limit)\n" "\t\tbreak;\n",
	[HIPEC_OP_CALL] = "Replace();\n",
	[HIPEC_OP_LOAD] = "n = list[i];\n",
	[HIPEC_OP_STORE] = "list[i] = n;\n",
	[HIPEC_OP_SELECT] = "EnQueue(page, levels[i], TAIL);\n",
	[HIPEC_OP_GET] = "n = page.age;\n",
	[HIPEC_OP_PUT] = "page.age = n;\n",
};

/* Return: 0, or -1 if there is no @text. */
static int print_example(u32 opcode, const char *call, const char *text)
{
	if (!text) {
		fprintf(stderr, "docs/generate/builtins.c: '%s' has no example\n",
			hipec_ops[opcode].word);
		return -1;
	}
	printf("\n### %s\n\n", hipec_ops[opcode].word);
	if (call)
		printf("`%s`\n\n", call);
	printf("```c PageFault\n%s```\n", text);
	return 0;
}

/**
 * print_builtins() - print how the language writes each command
 *
 * Return: 0; -1, said, if one is missing here.
 */
int print_builtins(void)
{
	struct ampc c;
	u32 op;
	int ret = 0;

	ampc_init(&c, "");
	printf("\n## In the language\n\n"
	       "How a policy's source calls each command. What stands left of the '=' is the\n"
	       "result, which may be left out. Where a truth value is wanted, the condition\n"
	       "counts, if the command sets it; without a result it is the value as well.\n"
	       "Names and words may be written in any case. The examples share the\n"
	       "declarations of `language.md`.\n");
	for (op = 0; op < 256; op++)
		if (ampc_builtin_is(op))
			ret |= print_example(op, ampc_builtin_usage(&c, op),
					     examples[op]);
	printf("\n## Made of signs\n\nCommands that have no name in the language.\n");
	for (op = 0; op < 256; op++)
		if (hipec_ops[op].word && !ampc_builtin_is(op))
			ret |= print_example(op, NULL, signs[op]);
	ampc_free(&c);
	return ret;
}
