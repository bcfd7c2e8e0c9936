/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Everything that ampc says about a source, in one table. A row that no file
 * under test/compiler/err/ provokes fails test_compiler.py.
 *
 * NAME, level, text. The text is a printf format that the compiler checks at
 * each use; it is lower case, quotes the user's words and ends without a stop.
 */
#ifndef AMPC_DIAG_H
#define AMPC_DIAG_H

#define AMPC_DIAGS(X)                                                         \
	/* the file */                                                        \
	X(CANNOT_READ, ERROR, "cannot read the file: %s")                     \
	X(CANNOT_WRITE, ERROR, "cannot write the file: %s")                   \
	X(FILE_EMPTY, ERROR, "the file is empty")                             \
	X(FILE_LARGE, ERROR, "the file is larger than %u bytes")              \
	X(FILE_BINARY, ERROR, "zero byte: this is not a text file")           \
	X(POLICY_NAME, ERROR, "policy name '%s' has a character other than letters, digits, '.', '_', '+' and '-'") \
	X(POLICY_NAME_LONG, ERROR, "policy name '%s' is longer than %u bytes") \
	X(POLICY_NAME_FROM, NOTE, "a policy is named after its file")         \
	X(TOO_MANY_ERRORS, NOTE, "there are more errors than these")     \
	/* characters and tokens */                                           \
	X(BAD_CHARACTER, ERROR, "character %s is not used in this language")  \
	X(BAD_OPERATOR, ERROR, "there is no operator '%s'")                   \
	X(BAD_STRING, ERROR, "there are no strings and characters in this language") \
	X(BAD_NUMBER, ERROR, "'%s' is not a number")                          \
	X(FRACTION, NOTE, "there are only integers: for 'n * %s' write 'n * %lld / %lld'") \
	X(OCTAL, ERROR, "number '%s' starts with 0, which C reads as octal")  \
	X(NUMBER_LARGE, ERROR, "number '%s' is larger than %lld")             \
	X(COMMENT_OPEN, ERROR, "the comment is not closed")                   \
	X(NAME_LONG, ERROR, "the name is longer than %u bytes")               \
	X(NO_PREPROCESSOR, ERROR, "there is no preprocessor for '#%s'")        \
	X(CONST_INSTEAD, NOTE, "write 'const Int %s = %s;' in Event Init()")   \
	X(EVENT_INSTEAD, NOTE, "write an event: 'Event %s()', and operands of Event Init() for its arguments") \
	X(ONE_FILE, NOTE, "a policy is one file")                             \
	/* structure */                                                       \
	X(EXPECTED, ERROR, "expected %s, found %s")                           \
	X(SWITCH, NOTE, "there is no 'switch': write 'if' and 'else if'")      \
	X(NO_PARAMETERS, NOTE, "an event has no parameters: declare an operand in Event Init() and set it before the call") \
	X(NO_RESULT, NOTE, "an event has no result: set an operand of Event Init() before 'return;'") \
	X(BRACE_OPEN, ERROR, "expected '}', found %s")                        \
	X(BRACE_OPEN_HERE, NOTE, "this '{' is not closed")                    \
	X(TOO_DEEP, ERROR, "nested deeper than %u levels")                    \
	/* names */                                                           \
	X(UNDECLARED, ERROR, "undeclared name '%s'")                          \
	X(UNKNOWN_FUNCTION, ERROR, "there is no command or event '%s'")       \
	X(DID_YOU_MEAN, NOTE, "did you mean '%s'?")                           \
	X(DECLARED_HERE, NOTE, "'%s' is declared here")                       \
	X(REDECLARED, ERROR, "'%s' is declared twice")                        \
	X(SYSTEM_NAME, ERROR, "'%s' is declared by the system")               \
	X(EVENT_IS_NAME, ERROR, "'%s' is the name of an operand and of an event") \
	X(NOT_A_FUNCTION, ERROR, "'%s' is %s and cannot be called")           \
	X(NOT_A_VALUE, ERROR, "'%s' is %s and has no value")                  \
	X(CALL_IT, NOTE, "write '%s()' to run it")                            \
	X(SELECTOR_HERE, ERROR, "'%s' is a word for commands and has no value") \
	/* declarations */                                                    \
	X(DECL_PLACE, ERROR, "'%s' is declared outside Event Init()")         \
	X(DECL_NESTED, ERROR, "'%s' is declared inside a statement of Event Init()") \
	X(DECL_PLACE_WHY, NOTE, "all events share the operands that Event Init() declares") \
	X(INIT_TYPE, ERROR, "'%s' is %s and takes no value")                  \
	X(INIT_NOT_CONST, ERROR, "the value of '%s' is not constant")         \
	X(QUALIFIER_TYPE, ERROR, "'%s' is %s, only an integer can be '%s'")   \
	X(SHARED_TYPE, ERROR, "'%s' is %s, only an integer array can be 'shared'") \
	X(ARRAY_TYPE, ERROR, "'%s' is an array of %ss, only integers and queues have arrays") \
	X(LENGTH_NOT_CONST, ERROR, "the length of '%s' is not constant")      \
	X(LENGTH_RANGE, ERROR, "'%s' has a length of %lld, it must be 1 to %u (%s)") \
	X(KEY_TYPE, ERROR, "'%s' is %s, only a queue is ordered 'by' a field") \
	X(TOO_MANY_ELEMENTS, ERROR, "'%s' makes it %lld elements of integer arrays, there may be %u (HIPEC_MAX_ELEMENTS)") \
	X(TOO_MANY_QUEUES, ERROR, "'%s' makes it %lld queues, there may be %u (HIPEC_MAX_QUEUES, less the machine's own)") \
	X(TOO_MANY_FIELDS, ERROR, "'%s' makes it %lld page fields, there may be %u (HIPEC_MAX_FIELDS)") \
	X(SETTING_PLACE, ERROR, "'%s' is said outside the declarations of Event Init()") \
	X(SETTING_TWICE, ERROR, "'%s' is said twice in Event Init()")         \
	X(SETTING_HERE, NOTE, "it is said here first")                        \
	X(SETTING_NOT_CONST, ERROR, "'%s' is not constant")                   \
	X(GHOSTS_RANGE, ERROR, "%lld percent of ghosts, there may be 0 to %u (HIPEC_MAX_GHOSTS)") \
	X(TIMER_RANGE, ERROR, "a timer of %lld ms, it must be %u ms (HIPEC_MIN_TIMER) to %u ms") \
	X(TIMER_NO_EVENT, ERROR, "there is no Event Timer() that runs every %lld ms") \
	X(QUALIFIER_TWICE, ERROR, "'%s' is said twice")                       \
	X(CONST_NO_VALUE, ERROR, "'%s' is const and has no value")            \
	X(RANGE_TYPE, ERROR, "'%s' has a range, only a 'param' can have one") \
	X(RANGE_NOT_CONST, ERROR, "'%s' is not constant, a range must be")    \
	X(RANGE_EMPTY, ERROR, "the range %lld..%lld leaves '%s' no choice")   \
	X(RANGE_VALUE, ERROR, "the value of '%s' is %lld, outside its range %lld..%lld") \
	X(TOO_MANY_OPERANDS, ERROR, "the policy needs more than %u operands") \
	X(OPERANDS_ARE, NOTE, "variables, temporaries and constants are operands") \
	X(TOO_MANY_VARIABLES, ERROR, "more than %u variables")                \
	/* types */                                                           \
	X(WRONG_ARGUMENT, ERROR, "%s, argument %u of '%s' must be %s")        \
	X(WRONG_SELECTOR, ERROR, "argument %u of '%s' must be %s, found '%s'") \
	X(NR_ARGUMENTS, ERROR, "'%s' takes %u argument%s, %u given")          \
	X(USAGE, NOTE, "use it as '%s'")                                      \
	X(WRONG_OPERAND, ERROR, "%s, '%s' works on integers")           \
	X(WRONG_SIDE, ERROR, "%s, '%s' works on integers and on pages")       \
	X(OTHER_SIDE, ERROR, "%s, the other side of '%s' is a page")          \
	X(WRONG_CONDITION, ERROR, "%s, a condition must be an integer, a page or a test") \
	X(NOT_AN_ARRAY, ERROR, "%s and has no elements")                      \
	X(WRONG_INDEX, ERROR, "%s, an index must be an integer")              \
	X(INDEX_RANGE, ERROR, "index %lld is outside '%s', whose elements are 0 to %lld") \
	X(ELEMENT, NOTE, "name one of its elements, as in '%s[0]'")           \
	X(NO_FIELDS, ERROR, "%s and has no fields")                           \
	X(UNKNOWN_FIELD, ERROR, "there is no page field '%s'")                \
	X(NOT_A_FIELD, ERROR, "'%s' is %s, not a page field")                 \
	X(DECLARE, NOTE, "declare it in Event Init() as '%s;'")                \
	X(C_TYPE, NOTE, "there are only Int, Queue, Page and Field, declared in Event Init(): for '%s' write '%s'") \
	X(C_FUNCTION, NOTE, "a function is an event, without parameters and a result: 'Event %s()'") \
	X(PAGE_ARRAY, NOTE, "many pages are on a queue: 'Queue %s;'")          \
	X(FIELD_OF, NOTE, "a page has it: write it behind one, as in 'page.%s'") \
	X(WRONG_VALUE, ERROR, "%s and cannot be assigned to %s")              \
	X(NOT_ASSIGNABLE, ERROR, "the left side of '%s' is not a variable")   \
	X(READ_ONLY, ERROR, "'%s' is %s and cannot be changed")               \
	X(SHARED_WHY, NOTE, "the application writes it")                      \
	X(NO_EFFECT, ERROR, "this statement does nothing")                    \
	X(MEANT_ASSIGN, NOTE, "did you mean '='?")                            \
	/* constants */                                                       \
	X(OVERFLOW, ERROR, "the constant does not fit in 64 bits")            \
	X(DIV_ZERO, ERROR, "division by zero")                                \
	X(SHIFT_RANGE, ERROR, "a shift by %lld, it must be 0 to 63")                \
	/* events */                                                          \
	X(EVENT_TWICE, ERROR, "event '%s' is defined twice")                  \
	X(EVENT_IS_COMMAND, ERROR, "'%s' is a command and cannot name an event") \
	X(EVENT_MISSING, ERROR, "event '%s' is missing")                      \
	X(EVENT_WHEN, NOTE, "it runs %s")                                     \
	X(EVENT_UNUSED, WARNING, "nothing runs event '%s'")                   \
	X(TOO_MANY_EVENTS, ERROR, "more than %u events of the policy's own")  \
	X(EVENT_LONG, ERROR, "the commands of event '%s' and those before it take more than %u words") \
	X(RECURSION, ERROR, "event '%s' calls itself")                        \
	X(RECURSION_VIA, ERROR, "event '%s' calls itself through '%s'")       \
	X(CALL_DEPTH, ERROR, "this call is more than %u calls deep")          \
	X(CALLED_HERE, NOTE, "'%s' calls '%s' here")                          \
	/* jumps */                                                           \
	X(BREAK_OUTSIDE, ERROR, "'%s' outside a loop")                        \
	X(LABEL_UNKNOWN, ERROR, "there is no label '%s' in event '%s'")       \
	X(LABEL_HERE, NOTE, "'%s' is set here")                               \
	X(LABEL_TWICE, ERROR, "label '%s' is set twice in event '%s'")        \
	/* assembler text: what the assembler says, or the verifier */    \
	X(ASSEMBLER, ERROR, "%s")                                             \
	/* what is allowed but hardly meant */                                \
	X(VARIABLE_UNUSED, WARNING, "'%s' is not used")                       \
	X(EVENT_EMPTY, WARNING, "event '%s' does nothing")                    \
	X(UNREACHABLE, WARNING, "this is never reached")                      \
	X(LOOP_NO_EXIT, WARNING, "there is no way out of this loop")          \
	X(LOOP_SAME, WARNING, "nothing in this loop changes what it tests")   \
	X(COMPARE_ALWAYS, WARNING, "this comparison is always %s")            \
	X(PRECEDENCE, WARNING, "'%s' is done before '%s'")                    \
	X(PARENTHESES, NOTE, "write '%s', or '(%s)' if that is meant")        \
	X(TEST_ASSIGNS, WARNING, "this condition is an assignment")           \
	X(SHIFT_OVERFLOW, WARNING, "the constant '%s' loses bits, what is left of it is %lld") \
	X(PAGE_UNSET, WARNING, "page '%s' is used and nothing sets it")       \
	X(PAGE_FIRST, WARNING, "page '%s' is used here before it is set")     \
	X(RELEASED, WARNING, "page '%s' is used after it gave up its frame")  \
	X(RELEASED_PATH, WARNING, "page '%s' is used here and can have given up its frame") \
	X(RELEASED_HERE, NOTE, "page '%s' gives up its frame here")           \
	X(QUEUE_KEEPS, WARNING, "pages are put on '%s' and nothing takes them off") \
	X(VICTIM_NONE, WARNING, "event '%s' never gives up a frame")          \
	X(VICTIM_PATH, WARNING, "event '%s' can end here without giving up a frame") \
	X(QUEUE_NONE, WARNING, "event '%s' puts its page on no queue")        \
	X(QUEUE_NONE_THEN, NOTE, "a page that is on no queue goes first, and Replace is not asked") \
	X(KEY_CHANGES, WARNING, "key '%s' changes, and a page on '%s' stays where it is") \
	X(KEY_CHANGES_HOW, NOTE, "'EnQueue(page, %s, TAIL)' puts it where its key says") \
	X(VICTIM_RELEASED, WARNING, "event '%s' gives its frames to the system, and none to the fault that wants one") \
	X(VICTIM_HOW, NOTE, "a page gives its frame to the fault by 'EnQueue(page, _free_queue, TAIL)'")

/*
 * Names of warnings. Rows of AMPC_DIAGS that answer to one name stand together.
 *
 * NAME of the row, name for -W, whether it is on without -Wall, what it is about.
 */
#define AMPC_WARNINGS(X)                                                      \
	X(EVENT_UNUSED, "unused-event", 1, "an event that nothing runs; perhaps its name is misspelled") \
	X(VARIABLE_UNUSED, "unused-variable", 0, "a variable that no event uses") \
	X(EVENT_EMPTY, "empty-event", 1, "an event that is run and does nothing") \
	X(UNREACHABLE, "unreachable", 1, "a statement that no path leads to") \
	X(LOOP_NO_EXIT, "endless-loop", 1, "a loop that can only end with the event's fuel") \
	X(LOOP_SAME, "endless-loop", 1, "a loop that can only end with the event's fuel") \
	X(COMPARE_ALWAYS, "constant-comparison", 1, "a comparison that is always true, or always false") \
	X(PRECEDENCE, "parentheses", 1, "an operation that is done before one that looks like the first") \
	X(TEST_ASSIGNS, "condition-assignment", 1, "a condition that assigns anything but the result of a command") \
	X(SHIFT_OVERFLOW, "constant-overflow", 1, "a constant that a shift takes bits from") \
	X(PAGE_UNSET, "unset-page", 1, "a page that is used before a command sets it") \
	X(PAGE_FIRST, "unset-page", 1, "a page that is used before a command sets it") \
	X(RELEASED, "released-page", 1, "a page that is used after it gave up its frame") \
	X(RELEASED_PATH, "released-page-path", 0, "a page that is used where one way leads after it gave up its frame") \
	X(QUEUE_KEEPS, "unemptied-queue", 0, "a queue that pages are put on and never taken off") \
	X(QUEUE_NONE, "unqueued-page", 1, "a PageFault that puts its page on no queue, where Replace takes them off one") \
	X(KEY_CHANGES, "key-change", 1, "a key that changes where no page is put on the queue that it orders") \
	X(VICTIM_NONE, "victim", 1, "a Replace that never gives up a frame")  \
	X(VICTIM_RELEASED, "victim-released", 1, "a Replace that gives frames to the system alone, by Release") \
	X(VICTIM_PATH, "victim-path", 0, "an end of Replace that is reached without giving up a frame")

#endif /* AMPC_DIAG_H */
