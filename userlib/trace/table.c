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
#define SECONDS "*1000000000"	/* of a time, in ns */
#define OBJECTS "an object is a page, whatever its size"

const char *const trace_form_names[TRACE_NR_FORMS] = {
#define X(form, text, ...) [TRACE_##form] = text,
	TRACE_FORMS(X)
#undef X
};

const struct trace_table trace_tables[TRACE_NR_FORMS] = {
	[TRACE_CSV] = { .skip = "#" },
	[TRACE_LIST] = {
		.shape = "i", .separators = BLANKS ",", .columns = "id=1", .skip = "*#", .reads = true,
	},
	[TRACE_LIS] = {
		.shape = "nnzn", .separators = BLANKS, .columns = "page=1,pages=2", .reads = true,
		.note = "a block is a page here, as in ARC's results; --columns sector=1,sectors=2: blocks of 512 bytes",
	},
	[TRACE_SPC] = {
		.shape = "nnndf*", .separators = COMMAS,
		.columns = "device=1,sector=2,size=3,op=4,time=5" SECONDS,
	},
	[TRACE_MSR] = {
		.header = "timestamp,hostname,disknumber,type,offset,size",
		.shape = "nwndnn*", .separators = COMMAS,
		.columns = "device=2+3,op=4,offset=5,size=6,time=1*100",
	},
	[TRACE_ALIBABA] = {
		.header = "device_id,opcode,offset,length",
		.shape = "ndnnn", .separators = COMMAS,
		.columns = "device=1,op=2,offset=3,size=4,time=5*1000",
	},
	[TRACE_TENCENT] = {
		.header = "timestamp,offset,size,iotype,volumeid",
		.shape = "nnnbn", .separators = COMMAS,
		.columns = "sector=2,sectors=3,op=4,device=5,time=1" SECONDS, .ops = "r=0,w=1",
	},
	[TRACE_SYSTOR] = {
		.header = "timestamp,response,iotype,lun,offset,size",
		.shape = "fednnn", .separators = COMMAS,
		.columns = "op=3,device=4,offset=5,size=6,time=1" SECONDS,
	},
	[TRACE_FIU] = {
		.shape = "nnknndnn*", .separators = BLANKS,
		.columns = "sector=4,sectors=5,op=6,device=7+8,time=1*1",
	},
	[TRACE_TWITTER] = {
		.header = "timestamp,anonymized key,key size,value size,client id,operation",
		.shape = "nknnnon", .separators = COMMAS,
		.columns = "id=2,op=6,time=1" SECONDS, .note = OBJECTS,
	},
	[TRACE_CACHELIB] = {
		.shape = "nkngnn*", .separators = COMMAS,
		.columns = "id=2,op=4,count=5,time=1" SECONDS,
		.note = OBJECTS,
	},
	[TRACE_CDN] = {
		.header = "timestamp,cachekey,optype,objectsize",
		.columns = "id=2,time=1" SECONDS, .reads = true, .note = OBJECTS,
	},
	[TRACE_COS] = {
		.shape = "nok*", .separators = BLANKS, .columns = "op=2,id=3,time=1*1000000", .note = OBJECTS,
	},
	[TRACE_WIKI] = {
		.shape = "nfu*", .separators = BLANKS, .columns = "id=3,time=2" SECONDS,
		.reads = true,
	},
	[TRACE_LRB] = {
		.shape = "nnn", .separators = BLANKS, .columns = "id=2,time=1", .reads = true,
		.note = OBJECTS,
	},
	[TRACE_YCSB] = {
		.shape = "owk*", .separators = BLANKS, .columns = "op=1,device=2,id=3",
		.skip = "[*#",
	},
	[TRACE_PHOTO] = {
		.shape = "ninnnnwn", .separators = BLANKS, .columns = "id=2", .reads = true,
		.note = OBJECTS,
	},
	[TRACE_YOUTUBE] = {
		.shape = "fkkwkk", .separators = BLANKS, .columns = "op=4,id=5,time=1" SECONDS,
		.ops = "r=GETVIDEO,skip=*",
	},
	[TRACE_LACKEY] = {
		.shape = "oxn", .separators = " \t,", .columns = "op=1,offset=2x,size=3",
		.skip = "=-",
	},
#define SCSI "r=8+40+136+168,w=10+42+138+170,skip=*"
	[TRACE_VSCSI] = {
		.format = "<IIIHHQQ", .columns = "sector=6,size=2,op=4,time=7", .ops = SCSI,
	},
	[TRACE_VSCSI2] = {
		.format = "<HHIIIQQQ", .columns = "sector=6,size=4,op=1,time=7", .ops = SCSI,
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
	ID("blockno"), ID("blkno"), ID("blk"), ID("blocknr"), ID("blocknumber"), ID("bno"),
	ID("lpn"), ID("lpa"), ID("ppn"), ID("vpn"), ID("pgno"), ID("pagenr"), ID("pagenumber"),
	ID("startlba"), ID("startblock"), ID("firstblock"), ID("pfn"), ID("vfn"),
	ID("item"), ID("itemid"), ID("videoid"), ID("contentid"), ID("documentid"), ID("docid"),
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
	SIZE("returnsize"), SIZE("valuesize"), SIZE("lengthbytes"), SIZE("lenbytes"),
	SIZE("sizeinbytes"), SIZE("sizeb"), SIZE("sz"), SIZE("nbyte"), SIZE("transfersize"),
	SIZE("xfersize"), SIZE("datasize"),
#undef SIZE
	{ "sizekb", TRACE_COL_SIZE, NULL, 1024 }, { "sizekib", TRACE_COL_SIZE, NULL, 1024 },
	{ "lengthkb", TRACE_COL_SIZE, NULL, 1024 }, { "lenkb", TRACE_COL_SIZE, NULL, 1024 },
	{ "sizemb", TRACE_COL_SIZE, NULL, 1 << 20 }, { "sizemib", TRACE_COL_SIZE, NULL, 1 << 20 },
	{ "offsetmb", TRACE_COL_OFFSET, NULL, 1 << 20 },
	{ "offsetkib", TRACE_COL_OFFSET, NULL, 1024 }, { "kbytes", TRACE_COL_SIZE, NULL, 1024 },
	{ "offsetkb", TRACE_COL_OFFSET, NULL, 1024 },
	{ "blocks", TRACE_COL_PAGES, NULL, 1 }, { "nblocks", TRACE_COL_PAGES, NULL, 1 },
	{ "nrblocks", TRACE_COL_PAGES, NULL, 1 }, { "numblocks", TRACE_COL_PAGES, NULL, 1 },
	{ "blockcount", TRACE_COL_PAGES, NULL, 1 }, { "pages", TRACE_COL_PAGES, NULL, 1 },
	{ "nrpages", TRACE_COL_PAGES, NULL, 1 }, { "npages", TRACE_COL_PAGES, NULL, 1 },
	{ "sector", TRACE_COL_SECTOR, NULL, 1 }, { "startsector", TRACE_COL_SECTOR, NULL, 1 },
	{ "offsetsectors", TRACE_COL_SECTOR, NULL, 1 },
	{ "sectors", TRACE_COL_SECTORS, NULL, 1 }, { "nrsectors", TRACE_COL_SECTORS, NULL, 1 },
	{ "nsectors", TRACE_COL_SECTORS, NULL, 1 }, { "nrsector", TRACE_COL_SECTORS, NULL, 1 },
	{ "nsector", TRACE_COL_SECTORS, NULL, 1 }, { "nsect", TRACE_COL_SECTORS, NULL, 1 },
	{ "numsectors", TRACE_COL_SECTORS, NULL, 1 },
	{ "sizesectors", TRACE_COL_SECTORS, NULL, 1 }, { "lensectors", TRACE_COL_SECTORS, NULL, 1 },
	{ "lengthsectors", TRACE_COL_SECTORS, NULL, 1 }, { "nblk", TRACE_COL_PAGES, NULL, 1 },
	{ "nblks", TRACE_COL_PAGES, NULL, 1 }, { "sectorcount", TRACE_COL_SECTORS, NULL, 1 },
	{ "offset", TRACE_COL_OFFSET, NULL, 1 }, { "fileoffset", TRACE_COL_OFFSET, NULL, 1 },
	{ "iooffset", TRACE_COL_OFFSET, NULL, 1 }, { "byteoffset", TRACE_COL_OFFSET, NULL, 1 },
	{ "offsetbytes", TRACE_COL_OFFSET, NULL, 1 }, { "address", TRACE_COL_OFFSET, NULL, 1 },
	{ "addr", TRACE_COL_OFFSET, NULL, 1 }, { "off", TRACE_COL_OFFSET, NULL, 1 },
	{ "pos", TRACE_COL_OFFSET, NULL, 1 }, { "position", TRACE_COL_OFFSET, NULL, 1 },
	{ "startoffset", TRACE_COL_OFFSET, NULL, 1 }, { "bytepos", TRACE_COL_OFFSET, NULL, 1 },
	{ "opcount", TRACE_COL_COUNT, NULL, 1 }, { "count", TRACE_COL_COUNT, NULL, 1 },
	{ "requests", TRACE_COL_COUNT, NULL, 1 }, { "numrequests", TRACE_COL_COUNT, NULL, 1 },
	{ "nrrequests", TRACE_COL_COUNT, NULL, 1 }, { "requestcount", TRACE_COL_COUNT, NULL, 1 },
	{ "reqcount", TRACE_COL_COUNT, NULL, 1 }, { "numops", TRACE_COL_COUNT, NULL, 1 },
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
	DEVICE("tenant"), DEVICE("tenantid"), DEVICE("ns"), DEVICE("cluster"),
	DEVICE("clusterid"), DEVICE("pool"), DEVICE("poolid"), DEVICE("shard"),
	DEVICE("shardid"), DEVICE("node"), DEVICE("nodeid"), DEVICE("vm"), DEVICE("vmid"),
	DEVICE("image"), DEVICE("filepath"), DEVICE("pathname"), DEVICE("fname"),
	DEVICE("filehandle"), DEVICE("keyspace"), DEVICE("collection"), DEVICE("schema"),
#undef DEVICE
#define TIME(name, ns) { name, TRACE_COL_TIME, NULL, ns }
	TIME("time", 0), TIME("timestamp", 0), TIME("ts", 0), TIME("realtime", 0),
	TIME("starttime", 0), TIME("ctime", 0), TIME("optime", 1000000000),
	TIME("clocktime", 1000000000), TIME("relativeunix", 1000000000), TIME("timens", 1),
	TIME("timestampns", 1), TIME("timeus", 1000), TIME("timestampus", 1000),
	TIME("timems", 1000000), TIME("timestampms", 1000000), TIME("times", 1000000000),
	TIME("timestamps", 1000000000), TIME("timesec", 1000000000),
#undef TIME
#define UNUSED(name) { name, TRACE_COL_UNUSED, NULL, 1 }
	UNUSED("response"), UNUSED("responsetime"), UNUSED("latency"),
	UNUSED("ttl"), UNUSED("keysize"), UNUSED("blockidsize"), UNUSED("cachehits"),
	UNUSED("cachehit"), UNUSED("nextaccessvtime"), UNUSED("version"), UNUSED("cpu"), UNUSED("clientid"), UNUSED("usecase"),
	UNUSED("subusecase"), UNUSED("md5"), UNUSED("timefirstbyte"),
	UNUSED("username"), UNUSED("usernamespace"),
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
