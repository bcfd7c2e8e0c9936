// SPDX-License-Identifier: GPL-2.0-only
/*
 * The forms of traces that are tables, and the titles that columns have. A new form is a
 * row here, a row in docs/user/traces.md, and one in test/trace/test_trace_forms.py.
 *
 * Interface: table.h.
 */
#include <strings.h>

#include "table.h"

#define COMMAS ",;\t"
#define BLANKS " \t"
#define OBJECTS "an object is a page, whatever its size"

const char *const trace_form_names[TRACE_NR_FORMS] = {
#define X(form, text, ...) [TRACE_##form] = text,
	TRACE_FORMS(X)
#undef X
};

const struct trace_table trace_tables[TRACE_NR_FORMS] = {
	[TRACE_CSV] = { .skip = "#" },
	[TRACE_LIST] = {
		.shape = "i", .separators = BLANKS, .columns = "id=1", .skip = "*#", .reads = true,
	},
	[TRACE_LIS] = {
		.shape = "nnzn", .separators = BLANKS, .columns = "page=1,pages=2", .reads = true,
		.note = "a block is a page here, as in ARC's results; --columns sector=1,sectors=2: blocks of 512 bytes",
	},
	[TRACE_SPC] = {
		.shape = "nnndf*", .separators = COMMAS, .columns = "device=1,sector=2,size=3,op=4",
	},
	[TRACE_MSR] = {
		.header = "timestamp,hostname,disknumber,type,offset,size",
		.shape = "nwndnn*", .separators = COMMAS,
		.columns = "device=2+3,op=4,offset=5,size=6",
	},
	[TRACE_ALIBABA] = {
		.header = "device_id,opcode,offset,length",
		.shape = "ndnnn", .separators = COMMAS, .columns = "device=1,op=2,offset=3,size=4",
	},
	[TRACE_TENCENT] = {
		.header = "timestamp,offset,size,iotype,volumeid",
		.shape = "nnnbn", .separators = COMMAS,
		.columns = "sector=2,sectors=3,op=4,device=5", .ops = "r=0,w=1",
	},
	[TRACE_SYSTOR] = {
		.header = "timestamp,response,iotype,lun,offset,size",
		.shape = "fednnn", .separators = COMMAS,
		.columns = "op=3,device=4,offset=5,size=6",
	},
	[TRACE_FIU] = {
		.shape = "nnknndnn*", .separators = BLANKS,
		.columns = "sector=4,sectors=5,op=6,device=7+8",
	},
	[TRACE_TWITTER] = {
		.header = "timestamp,anonymized key,key size,value size,client id,operation",
		.shape = "nknnnon", .separators = COMMAS, .columns = "id=2,op=6", .note = OBJECTS,
	},
	[TRACE_CACHELIB] = {
		.shape = "nkngnn*", .separators = COMMAS, .columns = "id=2,op=4,count=5",
		.note = OBJECTS,
	},
	[TRACE_CDN] = {
		.header = "timestamp,cachekey,optype,objectsize",
		.columns = "id=2", .reads = true, .note = OBJECTS,
	},
	[TRACE_COS] = {
		.shape = "nok*", .separators = BLANKS, .columns = "op=2,id=3", .note = OBJECTS,
	},
	[TRACE_WIKI] = {
		.shape = "nfu*", .separators = BLANKS, .columns = "id=3", .reads = true,
	},
	[TRACE_LRB] = {
		.shape = "nnn", .separators = BLANKS, .columns = "id=2", .reads = true,
		.note = OBJECTS,
	},
	[TRACE_YCSB] = {
		.shape = "owk*", .separators = BLANKS, .columns = "op=1,device=2,id=3",
		.skip = "[*#",
	},
	[TRACE_LACKEY] = {
		.shape = "oxn", .separators = " \t,", .columns = "op=1,offset=2x,size=3",
		.skip = "=-",
	},
#define SCSI "r=8+40+136+168,w=10+42+138+170,skip=*"
	[TRACE_VSCSI] = {
		.format = "<IIIHHQQ", .columns = "sector=6,size=2,op=4", .ops = SCSI,
	},
	[TRACE_VSCSI2] = {
		.format = "<HHIIIQQQ", .columns = "sector=6,size=4,op=1", .ops = SCSI,
	},
#undef SCSI
	/* 0 is of traces that do not say. */
	[TRACE_LCS] = { .ops = "r=0+1+2+12,w=3+4+5+6+7+8+10+11+13+14,skip=*" },
};

#define NUMBERS "r=0+false,w=1+true"

/* Titles, in lower case; '_', '-' and blanks in them are the same, or not there. */
static const struct trace_title titles[] = {
#define ID(name) { name, TRACE_COL_ID, NULL, 1 }
	ID("id"), ID("objid"), ID("obj"), ID("object"), ID("objectid"), ID("key"), ID("keyid"),
	ID("anonymizedkey"), ID("cachekey"), ID("block"), ID("blockid"), ID("lbn"), ID("lba"),
	ID("pageid"), ID("page"), ID("pageno"), ID("photoid"), ID("url"), ID("uri"),
	ID("hashedpathquery"), ID("hashedhostpathquery"), ID("hashedhostandpath"), ID("uuid"),
#undef ID
#define OP(name) { name, TRACE_COL_OP, NULL, 1 }
	OP("op"), OP("operation"), OP("opcode"), OP("optype"), OP("opname"), OP("type"),
	OP("iotype"), OP("rw"), OP("rwbs"), OP("cmd"), OP("command"), OP("reqtype"),
	OP("requesttype"), OP("method"), OP("action"), OP("readwrite"),
	OP("t"), OP("dir"), OP("direction"), OP("rwflag"), OP("accesstype"), OP("iotypename"),
#undef OP
	{ "iswrite", TRACE_COL_OP, NUMBERS, 1 },
	{ "isread", TRACE_COL_OP, "w=0+false,r=1+true", 1 },
#define SIZE(name) { name, TRACE_COL_SIZE, NULL, 1 }
	SIZE("size"), SIZE("objsize"), SIZE("objectsize"), SIZE("length"), SIZE("len"),
	SIZE("bytes"), SIZE("nbytes"), SIZE("iosize"), SIZE("sizebytes"), SIZE("reqsize"),
	SIZE("requestsize"), SIZE("requestiosizebytes"), SIZE("responsesize"),
	SIZE("returnsize"), SIZE("valuesize"),
#undef SIZE
	{ "sizekb", TRACE_COL_SIZE, NULL, 1024 }, { "sizekib", TRACE_COL_SIZE, NULL, 1024 },
	{ "lengthkb", TRACE_COL_SIZE, NULL, 1024 }, { "kbytes", TRACE_COL_SIZE, NULL, 1024 },
	{ "offsetkb", TRACE_COL_OFFSET, NULL, 1024 },
	{ "blocks", TRACE_COL_PAGES, NULL, 1 }, { "nblocks", TRACE_COL_PAGES, NULL, 1 },
	{ "nrblocks", TRACE_COL_PAGES, NULL, 1 }, { "numblocks", TRACE_COL_PAGES, NULL, 1 },
	{ "blockcount", TRACE_COL_PAGES, NULL, 1 }, { "pages", TRACE_COL_PAGES, NULL, 1 },
	{ "nrpages", TRACE_COL_PAGES, NULL, 1 }, { "npages", TRACE_COL_PAGES, NULL, 1 },
	{ "sector", TRACE_COL_SECTOR, NULL, 1 }, { "startsector", TRACE_COL_SECTOR, NULL, 1 },
	{ "sectors", TRACE_COL_SECTORS, NULL, 1 }, { "nrsectors", TRACE_COL_SECTORS, NULL, 1 },
	{ "nsectors", TRACE_COL_SECTORS, NULL, 1 }, { "sectorcount", TRACE_COL_SECTORS, NULL, 1 },
	{ "offset", TRACE_COL_OFFSET, NULL, 1 }, { "fileoffset", TRACE_COL_OFFSET, NULL, 1 },
	{ "iooffset", TRACE_COL_OFFSET, NULL, 1 }, { "byteoffset", TRACE_COL_OFFSET, NULL, 1 },
	{ "offsetbytes", TRACE_COL_OFFSET, NULL, 1 }, { "address", TRACE_COL_OFFSET, NULL, 1 },
	{ "addr", TRACE_COL_OFFSET, NULL, 1 },
	{ "opcount", TRACE_COL_COUNT, NULL, 1 }, { "count", TRACE_COL_COUNT, NULL, 1 },
	{ "requests", TRACE_COL_COUNT, NULL, 1 },
#define DEVICE(name) { name, TRACE_COL_DEVICE, NULL, 1 }
	DEVICE("device"), DEVICE("deviceid"), DEVICE("dev"), DEVICE("devid"), DEVICE("disk"),
	DEVICE("diskid"), DEVICE("disknumber"), DEVICE("disknum"), DEVICE("diskno"),
	DEVICE("drive"), DEVICE("volume"), DEVICE("volumeid"), DEVICE("vol"), DEVICE("volid"),
	DEVICE("vd"), DEVICE("vdid"), DEVICE("lun"), DEVICE("asu"), DEVICE("host"),
	DEVICE("hostname"), DEVICE("server"), DEVICE("namespace"), DEVICE("namespaceid"),
	DEVICE("nsid"), DEVICE("major"), DEVICE("minor"), DEVICE("file"), DEVICE("filename"),
	DEVICE("fileid"), DEVICE("path"), DEVICE("inode"), DEVICE("ino"), DEVICE("inodeid"),
	DEVICE("fid"), DEVICE("partition"), DEVICE("rsshardid"), DEVICE("table"),
	DEVICE("bucket"), DEVICE("tablespace"), DEVICE("database"), DEVICE("db"),
	DEVICE("relation"), DEVICE("relfilenode"), DEVICE("fork"), DEVICE("segment"),
#undef DEVICE
#define UNUSED(name) { name, TRACE_COL_UNUSED, NULL, 1 }
	UNUSED("time"), UNUSED("timestamp"), UNUSED("ts"), UNUSED("optime"), UNUSED("clocktime"),
	UNUSED("realtime"), UNUSED("response"), UNUSED("responsetime"), UNUSED("latency"),
	UNUSED("ttl"), UNUSED("keysize"), UNUSED("blockidsize"), UNUSED("cachehits"),
	UNUSED("cachehit"), UNUSED("nextaccessvtime"), UNUSED("version"), UNUSED("cpu"), UNUSED("clientid"), UNUSED("usecase"),
	UNUSED("subusecase"), UNUSED("md5"), UNUSED("relativeunix"), UNUSED("timefirstbyte"),
	UNUSED("starttime"), UNUSED("ctime"), UNUSED("username"), UNUSED("usernamespace"),
	UNUSED("seq"), UNUSED("sequence"), UNUSED("index"), UNUSED(""),
#undef UNUSED
};

/* Letters and digits, in lower case, as far as there is room. */
static void plain(const char *text, u32 length, char *to, size_t room)
{
	size_t n = 0;
	u32 i;

	for (i = 0; i < length && n + 1 < room; i++) {
		char c = text[i];

		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			to[n++] = c;
	}
	to[n] = 0;
}

/* What a column of that title says; NULL: not known. */
const struct trace_title *trace_title(const char *text, u32 length)
{
	char name[32];
	size_t i;

	plain(text, length, name, sizeof(name));
	if (length && !*name)
		return NULL;	/* a title without letters is none */
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		if (!strcmp(titles[i].name, name))
			return &titles[i];
	return NULL;
}
