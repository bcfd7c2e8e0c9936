# SPDX-License-Identifier: GPL-2.0-only
"""Forms that others make: a row for each, with what is in it counted by hand or by Python. All
of a file that separates addresses, says what is written, or scales a size is used, or named."""

import bz2
import gzip
import lzma
import re
import struct
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_traces import convert, hipec, refused
from trace_models import plain, read_text

pytestmark = pytest.mark.usefixtures("quick_start")


@pytest.fixture(scope="module", autouse=True)
def built():
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/hipec"], check=True)


def counts(data, *args):
    """(accesses, distinct pages, writes, regions) and what was said."""
    out, said = convert(data, *args)
    accesses, regions = read_text(out.decode())
    return (len(accesses), len({page for page, *_ in accesses}), sum(write for _, write, *_ in accesses),
            [name for *_, name in regions]), said


def packed(form, *records):
    return b"".join(struct.pack(form, *record) for record in records)


def lcs(version, form, *records, header=8192):
    magic = struct.pack("<Q", 0x123456789abcdef0)
    return magic + struct.pack("<Q", version) + bytes(header - 24) + magic + packed(form, *records)


def blk(action, sector, size, device=8 << 20, more=b""):
    return struct.pack("<IIQQIIIIIHH", 0x65617407, 1, 5, sector, size, action, 7, device, 0, 0, len(more)) + more


QUEUED, ISSUED, READ, WRITE = 1, 7, 1 << 16, 2 << 16

# Two batches of one read of 32 pages; a read of 5 pages, cut by the file's end; two tasks at once; a
# fault; a read that fails; a library, which is left out.
PERF = """x y 7 [001] 1.1: filemap:mm_filemap_get_pages: dev=254:0 ino=ff ofs=0-131071
x y 7 [001] 1.2: filemap:mm_filemap_get_pages: dev=254:0 ino=ff ofs=126976-131071
x y 7 [001] 1.3: syscalls:sys_exit_read: 0x20000
x y 7 [001] 1.4: filemap:mm_filemap_get_pages: dev=254:0 ino=10 ofs=0-131071
z 8 [000] 1.4: filemap:mm_filemap_get_pages: dev=254:0 ino=10 ofs=32768-49151
x y 7 [001] 1.5: syscalls:sys_exit_pread64: 0x5000
z 8 [000] 1.5: syscalls:sys_exit_io_uring_enter: 0x1
z 8 [000] 1.6: filemap:mm_filemap_get_pages: dev=254:0 ino=10 ofs=0-16383
z 8 [000] 1.7: filemap:mm_filemap_fault: dev=254:0 ino=10 ofs=32768
z 8 [000] 1.8: filemap:mm_filemap_get_pages: dev=8:1 ino=20 ofs=0-16383
z 8 [000] 1.9: PERF_RECORD_MMAP2 8/8: [0x7f(0x6000) @ 0x3000 08:01 32 0]: r-xp /usr/lib/libx.so
x y 7 [001] 2.0: filemap:mm_filemap_get_pages: dev=254:0 ino=ff ofs=8192-12287
x y 7 [001] 2.1: syscalls:sys_exit_read: 0xfffffffffffffff5
x y 7 [001] 2.2: filemap:mm_filemap_get_pages: dev=254:0 ino=ff ofs=0-4095
"""

# name: (bytes, options, accesses, pages, writes, names of regions)
FORMS = {
    "list": ("4200\n4201\n4200\n*\n77\n", (), 4, 3, 0, []),
    "list, hexadecimal": ("0x10\n0x11\n0x10\n", (), 3, 2, 0, []),
    "list, UUIDs": ("0188c1de-0000-4000-8000-00000000000a\n0188c1de-0000-4000-8000-00000000000b\n"
                    "0188c1de-0000-4000-8000-00000000000a\n", (), 3, 2, 0, []),
    "list, words": ("apple\npear\napple\n", ("--from", "list"), 3, 2, 0, []),
    "list, references of a textbook": ("7 0 1 2 0 3 0 4 2 3 0 3 2\n", (), 13, 6, 0, []),
    "list, references between commas": ("# FIFO\n7, 0, 1, 2, 0, 3, 0, 4, 2, 3, 0, 3, 2\n", (), 13, 6, 0, []),
    "list, several a line": ("7 0 1\n2 0 3\n", ("--from", "list"), 6, 5, 0, []),
    "list, with a title": ("lba\n8\n9\n8\n", (), 3, 2, 0, []),
    "lis": ("100 3 0 0\n101 1 0 1\n", (), 4, 3, 0, []),
    "lis, sectors": ("100 3 0 0\n101 1 0 1\n", ("--columns", "sector=1,sectors=2"), 2, 1, 0, []),
    "spc": ("0,20480,8192,W,0.5\n1,20480,4096,r,0.6\n", (), 3, 3, 2, ["0", "1"]),
    "msr": ("128166000000000001,hosta,0,Read,0,4096,100\n128166000000000002,hosta,1,Read,0,4096,100\n"
            "128166000000000003,hostb,0,Write,0,4096,100\n128166000000000004,hosta,0,Read,0,4096,9\n",
            (), 4, 3, 1, ["hosta/0", "hosta/1", "hostb/0"]),
    "msr, with --columns": ("1,hosta,0,Read,0,4096,100\n2,hosta,1,Read,0,4096,100\n",
                            ("--columns", "op=4,offset=5,size=6"), 2, 2, 0, ["hosta/0", "hosta/1"]),
    "msr, with a header": ("Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n"
                           "1,a,0,Write,4096,8192,9\n", (), 2, 2, 2, ["a/0"]),
    "alibaba": ("3,R,0,4096,1\n3,W,4096,4096,2\n7,R,0,8192,3\n", (), 4, 4, 1, ["3", "7"]),
    "alibaba, with a header": ("device_id,opcode,offset,length,timestamp\n0,R,0,4096,1\n"
                               "1,R,0,4096,2\n", (), 2, 2, 0, ["0", "1"]),
    "tencent": ("100,8000,128,0,7\n100,16000,8,1,8\n101,32000,384,0,9\n102,8000,128,0,9\n",
                (), 81, 81, 1, ["7", "8", "9"]),
    "tencent, with a header": ("Timestamp,Offset,Size,IOType,VolumeID\n100,8000,128,0,7\n"
                               "100,16000,8,1,8\n101,32000,384,0,9\n102,8000,128,0,9\n",
                               (), 81, 81, 1, ["7", "8", "9"]),
    "systor": ("1455525600.1,0.0003,W,2,8192,4096\n1455525601.2,,R,3,8192,8192\n", (), 3, 3, 1,
               ["2", "3"]),
    "systor, with a header": ("Timestamp,Response,IOType,LUN,Offset,Size\n1.1,0.1,W,2,8192,4096\n"
                              "1.2,0.1,R,3,8192,4096\n", (), 2, 2, 1, ["2", "3"]),
    "fiu": ("89967404 4892 syslogd 904265560 8 W 6 0 531e779\n89967405 4892 httpd 904265568 16 R 8 1 "
            "ab3c\n", (), 3, 3, 1, ["6/0", "8/1"]),
    "twitter": ("0,q:q:1:8WTfj,9,0,2,get,0\n0,yDqF:3q,8,0,9,gets,0\n1,q:q:1:8WTfj,9,30,2,set,600\n",
                (), 3, 2, 1, []),
    "cachelib, 2022": ("key,op,size,op_count,key_size\n1000007,GET,82,3,16\n123,SET,300,1,8\n",
                       (), 4, 2, 1, []),
    "cachelib, 2024": ("op_time,key,key_size,op,op_count,size,cache_hits,ttl,usecase,sub_usecase\n"
                       "1,77,8,GET_LEASE,2,0,1,0,a,b\n2,77,8,SET,1,90,0,60,a,b\n3,77,8,DELETE,1,0,0,0,a,b\n",
                       (), 3, 1, 1, []),
    "cachelib, without a header": ("564726470,7,20,GET,2,0,1,\n564726471,ab,20,SET_LEASE,1,100,0,300\n", (), 3,
                                   2, 1, []),
    "biosnoop": ("TIME(s)     COMM           PID     DISK      T SECTOR     BYTES   LAT(ms)\n"
                 "0.000000    jbd2/vda1-8    263     vda       W 8916024    4096       0.60\n"
                 "0.000000    jbd2/vda1-8    263     vdb       R 8916024    4096       0.60\n", (), 2, 2, 1,
                 ["vda", "vdb"]),
    "blocks with a number of sectors": ("lba,sectors,op\n8,8,r\n16,16,w\n", (), 3, 3, 2, []),
    "blocks with a number of blocks": ("block,nblocks,op\n8,2,r\n16,1,w\n", (), 3, 3, 1, []),
    "kilobytes": ("offset,size_kb,op\n0,4,r\n4096,8,w\n", (), 3, 3, 2, []),
    "blocks of 8 KiB": ("1,r\n2,w\n", ("--columns", "offset=1*8192,op=2"), 4, 4, 2, []),
    "negative hashes": ("-5541\n833\n-5541\n", (), 3, 2, 0, []),
    "cachelib's CDN": ("timestamp,cacheKey,OpType,objectSize,responseSize\n1,88,1,5000,5000\n"
                       "2,89,1,10,10\n3,88,1,5000,9\n", (), 3, 2, 0, []),
    "tectonic": ("block_id io_offset io_size op_time op_name user_name rs_shard_id op_count\n"
                 "10 0 8192 1.5 getChunkData.Permanent 1 0 1\n11 4096 4096 2 putChunk.Temporary 1 3 1\n",
                 (), 3, 3, 1, ["0/10", "3/11"]),
    "thesios": ("filename,file_offset,op_type,request_io_size_bytes\nf1,0,READ,4096\nf2,0,WRITE,8192\n",
                (), 3, 3, 2, ["f1", "f2"]),
    "cos": ("1219008 REST.PUT.OBJECT 8d4fcda3d675bac9 1056\n1221974 REST.HEAD.OBJECT 39d177fb735ac5df 528\n"
            "1232437 REST.GET.OBJECT 8d4fcda3d675bac9 1056 0 1055\n", (), 2, 1, 1, []),
    "wiki, 2007": ("929840 1190146243.303 http://en.wikipedia.org/wiki/A -\n929841 1190146243.304 "
                   "http://en.wikipedia.org/wiki/B -\n929842 1190146243.4 http://en.wikipedia.org/wiki/A -\n",
                   (), 3, 2, 0, []),
    "wikimedia, 2019": ("relative_unix\thashed_path_query\timage_type\tresponse_size\ttime_firstbyte\n"
                        "0\t-5541\tjpeg\t9\t1.5e-4\n0\t833\tpng\t9\t0.1\n1\t-5541\tjpeg\t9\t0.1\n",
                        (), 3, 2, 0, []),
    "lrb": ("1 77 500\n2 78 100\n3 77 500\n", (), 3, 2, 0, []),
    "photo": ("20160201164559 85f0e0cb58b0 0 1 8129 1 PC 1\n20160201164559 6ab6be1a 5 1 100 1 PHONE 0\n"
              "20160201164600 85f0e0cb58b0 0 1 8129 1 PC 1\n", (), 3, 2, 0, []),
    "youtube": ("1189828805.208862 63.22.65.73 140.8.48.66 GETVIDEO lML9dik8QNw 158.102.125.12\n1189828806.2 "
                "63.22.65.73 140.8.48.66 OTHER lML9dik8QNw 158.102.125.12\n1189828807.2 63.22.65.73 140.8.48.66 "
                "GETVIDEO aaaaaaaaaaa 158.102.125.12\n", (), 2, 2, 0, []),
    "lackey, as UCSD's addresses": ("l 0x1fffff50 1\ns 0x1fffff60 3\nl 0x2fffff50 1\n", (), 3, 2, 1, []),
    "libCacheSim's twr": (packed("<IQII", (1, 7, 1 << 22 | 5, 1 << 24), (2, 8, 5, 3 << 24), (3, 7, 5, 1 << 24)),
                          ("--format", "<IQII", "--columns", "id=2"), 3, 2, 0, []),
    "libCacheSim's twrNS": (packed("<IQIIH", (1, 7, 5, 1 << 24, 3), (2, 7, 5, 1 << 24, 4)),
                            ("--format", "<IQIIH", "--columns", "id=2,device=5"), 2, 2, 0, []),
    "libCacheSim's oracleSimTwrNS": (packed("<IQIIHq", (1, 7, 5, 9, 3, 2), (2, 7, 5, 9, 3, -1)),
                                     ("--format", "<IQIIHq", "--columns", "id=2,device=5"), 2, 1, 0, []),
    "libCacheSim's oracleSysTwrNS": (packed("<IQHIHHIq", (1, 7, 1, 5, 1, 3, 9, 2), (2, 7, 1, 5, 3, 3, 9, -1),
                                            (3, 7, 1, 5, 9, 3, 9, -1)),
                                     ("--format", "<IQHIHHIq", "--columns", "id=2,op=5,device=6", "--ops",
                                      "r=1+2,w=3+4+5+6+7+8+10+11,skip=*"), 2, 1, 1, []),
    "libCacheSim's valpin": (packed("<Q", (7,), (8,), (7,)), ("--format", "<Q", "--columns", "id=1"), 3, 2, 0, []),
    "dinero": ("0 1000\n1 2000\n2 3000\n", ("--columns", "op=1,offset=2x", "--ops", "r=0,w=1,skip=2"), 2, 2, 1, []),
    "camelab": ("0.1 R 8 8\n0.2 W 16 8\n", ("--columns", "op=2,sector=3,sectors=4"), 2, 2, 1, []),
    "k5": ("1000,0.5,R,4096,8192\n1000,0.7,W,0,4096\n", ("--columns", "op=3,offset=4,size=5"), 3, 3, 1, []),
    "etw": (" DiskRead, 3007, tpcc (1), 99, 0xf, 0x1000, 0x2000, 5, 2, 0x1\n DiskWrite, 3008, tpcc (1), 9, 0xf, "
            "0x1000, 0x1000, 5, 3, 0x1\n", ("--columns", "op=1,offset=6,size=7,device=9", "--ops",
                                           "r=DiskRead,w=DiskWrite"), 3, 3, 1, ["2", "3"]),
    "outbrain": ("uuid,document_id,timestamp\n1f,120,3\n2f,120,3\n", ("--columns", "id=document_id"), 2, 1, 0, []),
    "ycsb": ("[OVERALL], RunTime(ms), 9\nREAD usertable user628 [ <all fields>]\nUPDATE usertable user9 "
             "[ field1=x ]\nREAD other user628 [ <all fields>]\n", (), 3, 3, 1, []),
    "lackey": ("==7== Lackey\nI  04001000,3\n L 1ffeffe7e8,8\n S 1ffeffefff,2\n M 0421c7cc,4\n", (), 5, 4,
               3, []),
    "libCacheSim's csv": ("# time, object, size\n0, 7, 1\n1, 8, 1\n2, 7, 1\n", (), 3, 2, 0, []),
    "quotes of RFC 4180": ('"id","op","what"\r\n"a,b","get","say ""x"""\r\n"a,c","set",""\r\n', (), 2, 2,
                           1, []),
    "quotes with line breaks": ('id,"what ""it""\r\nis",op\r\n"a\r\nb","x\n""\n\ny",get\r\nc,"\n",set\n"a\nb",,get\n',
                                ("--columns", "id=1,op=3"), 3, 2, 1, []),
    "line breaks in names": ('disk,offset,size,op\n"a\nb",0,4096,r\n"a\nc",0,4096,r\n', (), 2, 2, 0, ["a?b", "a?c"]),
    "quotes with line breaks, no header": ("".join(f'0,{8 * n},4096,W,0.5,"a\n{n}"\n' for n in range(30)),
                                           (), 30, 30, 30, ["0"]),
    "bars": ("offset|size|op\n0|4096|W\n4096|4096|R\n", (), 2, 2, 1, []),
    "requests that are counted": ("key,op,num_requests\n1,get,3\n2,set,1\n", (), 4, 2, 1, []),
    "tabs": ("offset\tsize\top\n0\t4096\tW\n4096\t4096\tR\n", (), 2, 2, 1, []),
    "semicolons": ("offset;size;op\n0;4096;W\n4096;4096;R\n", (), 2, 2, 1, []),
    "blanks": ("offset size op\n0 4096 W\n4096   4096 R\n", (), 2, 2, 1, []),
    "pandas": (",offset,size,op\n0,0.0,4096.0,W\n1,4096.0,4096.0,R\n", (), 2, 2, 1, []),
    "binary, a format": (packed("<IQIB", (1, 7, 9, 1), (2, 8, 9, 0), (3, 7, 9, 0)),
                         ("--format", "<IQIB", "--columns", "id=2,op=4", "--ops", "r=0,w=1"), 3, 2, 1, []),
    "binary, big-endian": (packed(">3sHqd", (b"abc", 3, 4096, 8192.0), (b"abc", 4, 0, 4096.0)),
                           ("--format", ">3sHqd", "--columns", "device=1,offset=2,size=3"), 3, 3, 0,
                           ["3", "4"]),
    "vscsi": (packed("<IIIHHQQ", (1, 8192, 1, 0x2a, 0x100, 16, 5), (2, 4096, 1, 0x28, 0x100, 16, 6),
                     (3, 0, 1, 0x35, 0x100, 0, 7)), (), 3, 2, 2, []),
    "vscsi2": (packed("<HHIIIQQQ", (0x8a, 0x200, 1, 4096, 1, 8, 5, 6), (0x88, 0x200, 2, 4096, 1, 8, 6, 7)), (),
               2, 1, 1, []),
    "lcs": (lcs(1, "<IQIq", (1, 7, 100, 2), (2, 8, 100, -1), (3, 7, 100, -1)), (), 3, 2, 0, []),
    "lcs, version 2": (lcs(2, "<IQIB3xq", (1, 7, 100, 1, 2), (2, 7, 100, 3, -1), (2, 7, 100, 9, -1), header=1024),
                       (), 2, 1, 1, []),
    "lcs, version 4": (lcs(4, "<IQqB3xIqI", (1, 7, 100, 13, 60, 2, 0)), (), 1, 1, 1, []),
    "blktrace": (blk(1 << 26, 0, 0, more=b"x" * 8) + blk(QUEUED | WRITE, 8, 8192, more=b"ab")
                 + blk(ISSUED | WRITE, 8, 8192) + blk(QUEUED | READ, 8, 4096, 8 << 20 | 16), (), 3, 3, 2,
                 ["8,0", "8,16"]),
    "damon, raw": ("base_time_absolute: 8 m 59.809 s\n\nmonitoring_start: 0 ns\nmonitoring_end: 100 ms\n"
                   "target_id: 7\nnr_regions: 2\n563ebaa00000-563ebaa03000(  12.000 KiB):\t1\n"
                   "7f938d7e1000-7f938ddfc000(   6.105 MiB):\t0\n", (), 3, 3, 0, ["target 7"]),
    "damon, perf script": ("kdamond.0 100 [001] 80.1: damon:damon_aggregated: target_id=0 nr_regions=2 "
                           "4096-12288: 3 7\nkdamond.0 100 [001] 80.1: damon:damon_aggregated: target_id=0 "
                           "nr_regions=2 40960-45056: 0 7\n", (), 2, 2, 0, ["target 0"]),
    "perf": (PERF, (), 47, 41, 0, ["inode 255 of 254:0", "inode 16 of 254:0"]),
    "BOM": ("\ufeffr 1\nr 2\nr 1\n", (), 3, 2, 0, []),
    "BOM in csv": ("\ufeffid,op\n5,r\n", (), 1, 1, 0, []),
    "CR": ("r 1\rr 2\rw 1\r", (), 3, 2, 1, []),
    "numbers as people write them": ('offset,size,op\n"1,048,576",4K,r\n1_048_576,8 KiB,w\n1.048576e+06,"4,096",r\n'
                                     "1M,4096B,r\n", (), 5, 2, 2, []),
    "addresses without a length": ("address,rw\n0x1000,R\n0x2000,W\n0x1000,R\n", (), 3, 2, 1, []),
    "blktrace's fields": ("sector,nr_sector,rwbs,dev\n8,8,W,8:0\n8,8,R,8:16\n", (), 2, 2, 1, ["8:0", "8:16"]),
    "short titles": ("path,pos,sz,rw\n/a,0,4096,r\n/b,0,8192,w\n", (), 3, 3, 2, ["/a", "/b"]),
    "megabytes": ("offset_mb,size_mb,op\n1,1,w\n2,1,r\n", (), 512, 512, 256, []),
    "kilobytes of both": ("offset_kb,len_kb,op\n4,8,w\n", (), 2, 2, 2, []),
    "pages of an SSD": ("lpn,op\n1,w\n1,r\n", (), 2, 1, 1, []),
    "numbers of blocks": ("blkno,nblk,op\n1,2,w\n", (), 2, 2, 2, []),
    "lengths in sectors": ("sector,size_sectors,op\n8,16,r\n", (), 2, 2, 0, []),
    "tenants": ("tenant,key,op\n1,k,get\n2,k,get\n", (), 2, 2, 0, []),
    "is_read": ("offset_bytes,length_bytes,is_read\n0,4096,True\n4096,4096,False\n", (), 2, 2, 1, []),
    "trailing commas and no end": ("offset,size,op,\n\n0,4096,W,\n4096,4096,R,", (), 2, 2, 1, []),
    "hashes": ("key,op\n9f86d081884c7d659a2feaa0c55ad015,get\n60303ae22b998861bce3b28f33eec1be,set\n"
               "9f86d081884c7d659a2feaa0c55ad015,get\n", (), 3, 2, 1, []),
    "keys": ("key,op\nuser:ab,get\nuser:cd,get\nuser:ab,set\n", (), 3, 2, 1, []),
    "keys beyond ASCII": ("key,op\nä,get\nö,get\nä,set\n", (), 3, 2, 1, []),
    "numbers for operations": ("offset,size,op\n0,4096,0\n4096,4096,1\n0,4096,0\n", ("--ops", "r=0,w=1"),
                               3, 2, 1, []),
    "sectors by --columns": ("timestamp,lba,size,op\n0,0,4096,R\n1,4,4096,R\n2,8,8192,R\n",
                             ("--columns", "sector=2,size=3,op=4"), 5, 3, 0, []),
    "titles in --columns": ("when,where,long,how\n0,0,4096,R\n1,4096,8192,W\n",
                            ("--columns", "offset=where,size=long,op=how"), 3, 3, 2, []),
    "a header twice": ("id,op\n1,r\nid,op\n2,w\n", (), 2, 2, 1, []),
    "blkparse, issued": ("  8,0    7    50007   675.100000000   661  D   W 4000 + 80 [kworker]\n"
                         "  8,0    7    50008   675.200000000   661  D   R 4000 + 8 [kworker]\n", (), 11, 10,
                         10, ["8,0"]),
    "blkparse, completed": ("  8,0    7    50007   675.100000000   661  C   W 4000 + 8 [0]\n", (), 1, 1, 1,
                            ["8,0"]),
    "disks of 10 TB": ("8,0  0 1 0.0 697 Q R 19531250000 + 8 [x]\n8,16 0 2 0.1 697 Q R 19531250000 + 8 [x]\n"
                       "8,0  0 3 0.2 697 Q R 0 + 8 [x]\n", (), 3, 3, 0, ["8,0", "8,16"]),
    "offsets of 20 TB": ("fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x read 20000000000000 4096\n"
                         "/dev/x read 0 4096\n", (), 2, 2, 0, ["/dev/x"]),
    "fio, appended": ("fio version 3 iolog\n0 /f add\n1 /f open\n2 /f read 0 4096\nfio version 3 iolog\n"
                      "0 /f open\n1 /f read 4096 4096\n", (), 2, 2, 0, ["/f"]),
    "fio, a name with blanks": ("fio version 2 iolog\n/a b add\n/a b open\n/a b write 0 4096\n/a b close\n",
                                (), 1, 1, 1, ["/a b"]),
    "strace, copy_file_range": (
        '1 openat(AT_FDCWD, "a.dat", O_RDONLY) = 3\n1 openat(AT_FDCWD, "b.dat", O_WRONLY|O_CREAT, 0644) = 4\n'
        "1 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 40960\n"
        "1 copy_file_range(3, NULL, 4, NULL, 9223372035781033984, 0) = 0\n", (), 20, 20, 10,
        ["a.dat", "b.dat"]),
    "strace, sendfile and splice": (
        '1 open("a", O_RDONLY) = 3\n1 open("b", O_RDWR) = 4\n1 sendfile(9, 3, [4096] => [8192], 4096) = 4096\n'
        "1 splice(3, [0 => 4096], 4, NULL, 4096, 0) = 4096\n1 sendfile(9, 3, NULL, 4096) = 4096\n", (), 4, 3,
        1, ["a", "b"]),
    "strace, directories": (
        "".join(f'9 openat(AT_FDCWD, "t/{name}", O_RDONLY|O_DIRECTORY) = 5\n9 openat(5, "data", O_RDONLY) = 6\n'
                '9 read(6, ""..., 40960) = 40960\n9 close(6) = 0\n9 close(5) = 0\n' for name in "abcd"),
        (), 40, 40, 0, [f"t/{name}/data" for name in "abcd"]),
    "strace, chdir": ('1 chdir("/x") = 0\n1 open("a", O_RDONLY) = 3\n1 read(3, "", 9) = 9\n'
                      '1 chdir("y") = 0\n1 open("a", O_RDONLY) = 4\n1 read(4, "", 9) = 9\n', (), 2, 2, 0,
                      ["/x/a", "/x/y/a"]),
    "strace, one path in many ways": ('1 open("./a", O_RDONLY) = 3\n1 read(3, "", 9) = 9\n1 open("a", O_RDONLY) = 4\n'
                                      '1 read(4, "", 9) = 9\n1 open("/x/./y//z", O_RDONLY) = 5\n1 read(5, "", 9) = 9\n'
                                      '1 open("/x/y/z", O_RDONLY) = 6\n1 read(6, "", 9) = 9\n', (), 4, 2, 0,
                                      ["a", "/x/y/z"]),
    "strace -Y -i -n -k": ('7<cat> [   0] [00007fbc8514b67d] open("a", O_RDONLY) = 3\n > /usr/lib/libc.so.6'
                           '(__open+0x5d) [0x10967d]\n7<cat> [   1] [00007fbc8514b67d] read(3, "", 9) = 9\n'
                           "% time     seconds\n------ ---\n 50.00    0.000000           0         5    read\n",
                           (), 1, 1, 0, ["a"]),
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_others_have_the_right_counts(name):
    data, args, *right = FORMS[name]
    assert len(FORMS) >= 40
    assert list(counts(data, *args)[0]) == right


@pytest.mark.parametrize("title", ["op_type", "IOType", "io_type", "rw", "cmd", "is_write", "req_type"])
def test_an_operation_has_many_titles(title):
    words = ("1", "0") if title == "is_write" else ("W", "R")
    data = f"offset,size,{title}\n0,4096,{words[0]}\n4096,4096,{words[0]}\n0,4096,{words[1]}\n"
    assert counts(data)[0] == (3, 2, 2, [])


WORDS = {"r": "R RA read GET gets GET_LEASE scan L 28 RS RSM", "w": "W WS WA FWS SET insert POST S M put 2a WSM",
         "-": "D trim discard flush HEAD del delete FN F N sync"}


@pytest.mark.parametrize("kind", WORDS)
def test_words_say_what_is_read_and_written(kind):
    words = WORDS[kind].split()
    rows = "id,op\n1,read\n" + "".join(f"2,{word}\n" for word in words)
    (accesses, _, writes, _), said = counts(rows)
    assert (accesses, writes) == (1 + len(words) * (kind != "-"), len(words) * (kind == "w"))
    assert (f"{len(words)} operations that neither read nor write were skipped" in said) == (kind == "-")


NOTES = [
    ('id,op,"a\nb"\n1,r,1\n1,r,2\n', (), "not used: column 'a?b'; --columns"),
    ("offset,size\n0,4096\n", (), "no column says what is read or written"),
    ("time,obj_id,size,op\n0,1,100,r\n", (), "an object is a page, whatever its size"),
    ("timestamp,lba,size,op\n0,0,4096,R\n2,8,8192,R\n", (), "--columns sector=2,size=3"),
    ("offset,size,op,shelf\n0,4096,r,1\n0,4096,r,2\n", (), "not used: column 'shelf'"),
    ("1,0,4096,r\n2,0,4096,r\n", ("--columns", "offset=2,size=3,op=4"), "not used: column 1"),
    ("key,op\nuser:ab,get\n", (), "keys are no numbers: pages are numbered"),
    ("0,20480,8192,W,0.5\n", (), "taken for spc: device=1,sector=2,size=3,op=4,time=5*1000000000; --from and --columns"),
    ("100 3 0 0\n", (), "a block is a page here"),
    ("offset,size,op\n0,0,r\n4096,4096,w\n", (), "1 requests of 0 bytes are no accesses"),
    ("address,rw\n0x1000,R\n", (), "no column says how long a request is: each is of 4096 bytes"),
    ("offset,size,op,pid\n0,4096,r,1\n0,4096,r,2\n", (), "not used: column 'pid'"),
    ("0,a,9,0,2,get,0\n", (), "an object is a page, whatever its size"),
    ("8,0 0 1 0.0 697 C R 8 + 8 [x]\n", (), "no request is queued (Q) in this log: those completed (C)"),
    ("8,0 0 1 0.0 697 Q R 8 + 8 [x]\n8,16 0 1 0.0 697 D R 8 + 8 [x]\n", (), "not used: requests of 8,16"),
    ("block,nblocks,op\n8,2,r\n", (), "a block is taken for a page: of 512 bytes, --columns sector=1,sectors=2"),
    ('open("a", O_RDWR) = 3\nread(3, "", 9) = 9\nmmap(NULL, 4096, PROT_READ, MAP_SHARED, 3, 0) = 0x7f00\n', (),
     "1 times a file was mapped"),
    ('open("a", O_RDWR) = 3\nread(3, "", 9) = 9\nio_uring_enter(4, 1, 1, 0, NULL, 8) = 1\n', (),
     "1 calls of io_uring"),
]


@pytest.mark.parametrize("data, args, words", NOTES)
def test_what_is_not_used_is_named(data, args, words):
    assert words in counts(data, *args)[1]


def test_what_is_all_used_is_not_remarked_upon():
    for data in ("time,obj_id,size,op\n0,1,4096,r\n1,2,4096,w\n", "4200\n4201\n", "r 1\n",
                 "timestamp,offset,size,op\n1,0,4096,r\n2,4096,4096,w\n"):
        assert counts(data)[1] == ""


REFUSED = [
    ('id,op\n1,get\n2,"get\n3,get\n', (), "3: want the end of what is in quotes"),
    ('id,op\n"1\n",get\n"2\n\n",x\n', (), "4: want an op as r, w, read, write, get or set in column 2, "
     "not 'x': --ops r=x, if it reads"),
    ("0,20480,x,W,0.5\n", (), "1: want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not '0,20480,x,W,0.5'; it resembles "
     "spc: --from says which, --columns what columns have"),
    ("a b\n", (), "1: want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not 'a'; if it has columns: --columns says what "
     "is in them, as offset=3,size=4,op=5"),
    ("-1,4096,R\n0,4096,R\n", ("--columns", "offset=1,size=2,op=3"), "1: want a number as offset in column 1, "
     "not '-1'"),
    ("id,op\n1,0\n", (), "2: want an op as r, w, read, write, get or set in column 2, not '0': --ops r=0, if it "
     "reads"),
    ("id,op\n1,0\n", ("--ops", "x=0"), " --ops: want which words or numbers read, write or do neither, as "
     "r=0,w=1,skip=2, not 'x=0'"),
    ("id,op,op_count\n1,r,5000000000\n", (), "2: want at most 4294967294 requests in a row"),
    ("\xff\xfe".encode("latin-1") + "r 1\n".encode("utf-16-le"), (), " want text in UTF-8, not UTF-16: iconv -f "
     "UTF-16 -t UTF-8 FILE | hipec ... -"),
    ("start,end,op\n0,4095,r\n", (), "1: want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not 'start,end,op'; if it has "
     "columns: --columns says what is in them, as offset=3,size=4,op=5"),
    ("offset,end,op\n0,4095,r\n", (), "1: want a header that has obj_id, or sector or offset and size; else "
     "--columns"),
    ("id,op\n1,\n", (), "2: want an op in column 2, but it is empty"),
    ("apple\npear\n", (), "1: want 'r PAGE [COUNT]' or 'w PAGE [COUNT]', not 'apple'; it resembles list: --from "
     "says which, --columns what columns have"),
    ("inode,offset,count,op\n5,0,4096,r\n", (), "1: want a header that has obj_id, or sector or offset and size; "
     "else --columns"),
    ("offset,size,op\n4.5,4096,r\n", (), "2: want a number as offset in column 1, not '4.5'"),
    ('offset,size,op\n"10,48",4096,r\n', (), "2: want a number as offset in column 1, not '10,48'"),
    ("sector,size,op\n4K,4096,r\n", (), "2: want a number as sector in column 1, not '4K'"),
    ('[\n {"offset":0,"size":4096,"op":"r"}]\n', (), " want a table, not JSON: jq -r '[.offset,.size,.op]|@csv' FILE "
     "| hipec ... --columns offset=1,size=2,op=3 -, with the names that it has"),
    (gzip.compress(gzip.compress(b"r 1\n", mtime=0), mtime=0), (), " want a trace that is compressed once, not twice: "
     "zstdcat, zcat, xzcat or bzcat FILE | hipec ... -"),
    (b"PK\3\4" + bytes(40), (), " want a trace, not an archive: unzip -p FILE NAME | hipec ... -"),
    (gzip.compress(b"r 1\n" * 9, mtime=0)[:-5], (), " it was compressed by gzip, and is damaged or not whole"),
]


@pytest.mark.parametrize("data, args, message", REFUSED)
def test_a_line_that_is_refused_names_forms_and_options(data, args, message):
    assert refused(data, *args) == message


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
def test_other_compressors_are_asked(pack, tmp_path):
    data = "".join(f"r {i * 7 % 100000}\n" for i in range(200000)).encode()
    packed = pack(data)
    assert convert(packed)[0] == convert(data)[0]
    (tmp_path / "t").write_bytes(packed)
    done = hipec("trace", "info", tmp_path / "t")
    assert done.stdout.startswith(b"%s/t: 200000 accesses to 100000 pages" % str(tmp_path).encode())


def test_an_archive_is_no_trace(tmp_path):
    (tmp_path / "a").write_text("r 1\n")
    subprocess.run(["tar", "-czf", "a.tgz", "a"], cwd=tmp_path, check=True)
    assert refused((tmp_path / "a.tgz").read_bytes()) == \
        " want a trace, not an archive: tar -xOf FILE NAME | hipec ... -"


def test_far_pages_stay_neighbours_and_strangers():
    """Pages of a chunk keep their distance; a gap of any size is left between others."""
    far = 20 << 40
    lines = [(0, 0), (0, 4096), (0, far), (0, far + 4096), (1, far - 8192), (0, 4 << 20)]
    data = "dev,offset,size,op\n" + "".join(f"{dev},{offset},4096,r\n" for dev, offset in lines)
    pages = [page for page, *_ in read_text(convert(data)[0].decode())[0]]
    assert pages[1] == pages[0] + 1 and pages[3] == pages[2] + 1 and pages[5] == pages[0] + 1024
    assert len(set(pages)) == 6 and abs(pages[2] - pages[1]) > 1 and pages[4] > max(pages[:4])


def test_many_pages_far_apart_fit():
    """4,000 pages, a TiB apart: chunks become smaller until there is room for all."""
    data = "offset,size,op\n" + "".join(f"{i << 40},4096,r\n" for i in range(4000))
    assert counts(data)[0] == (4000, 4000, 0, [])


@pytest.mark.more
def test_more_files_than_65536_are_read():
    lines = "".join(f'1 open("f{i}", O_RDONLY) = 3\n1 read(3, "", 1) = 1\n1 close(3) = 0\n' for i in range(70000))
    (accesses, pages, _, names), _ = counts(lines)
    assert (accesses, pages, len(names)) == (70000, 70000, 70000)


VERBS = [("sim", "-f", "2"), ("try", "-p", "lru,fifo"), ("profile", "--text", "-p", "lru,opt"),
         ("trace", "info"), ("amp", "detect"), ("sim", "--grade", "-f", "2", "fifo"),
         ("sim", "--step", "-p", BUILD / "policies/mru.hpo", "-f", "2", "-c", "quit")]


@pytest.mark.parametrize("verb", VERBS)
def test_all_verbs_with_traces_take_columns(verb, tmp_path):
    """Rows that no form has: an object, when, and 1 for a write."""
    (tmp_path / "t").write_text("a9,5,1\nb9,6,0\na9,7,0\nb9,8,0\n" * 40)
    args = ["--columns", "id=1,op=3", "--ops", "w=1,r=0", "t"]
    done = hipec(*verb, *args, cwd=tmp_path)
    assert done.returncode in (0, 3, 4) and b": want " not in done.stderr, done.stderr
    done = hipec(*verb, "--from", "x", "t", cwd=tmp_path)
    assert done.returncode == 2 and b"--from: want one of" in done.stderr


def test_pages_are_those_of_the_trace():
    """Not only their number: sectors, bytes, devices, units."""
    assert read_text(convert("1,r\n2,w\n", "--columns", "page=1*2,op=2")[0].decode())[0] == \
        plain([(2, 0), (3, 0), (4, 1), (5, 1)])
    assert read_text(convert("1,16,8192,W,0.5\n0,0,4096,R,0.6\n")[0].decode()) == (
        plain([(2, 1), (3, 1), (1024 * 1, 0)]), [(0, 4, "1"), (1024, 1, "0")])


def test_each_form_has_a_row_in_the_document_and_one_here():
    doc = (ROOT / "docs/user/traces.md").read_text()
    listed = hipec("trace", "convert", "--from", "x", "a", "b").stderr.decode().split("one of ")[1]
    forms = [name.strip() for name in listed.split(", not ")[0].split(", ")]
    assert len(forms) > 20 and all(re.search(rf"^\| .*`{form}`.* \|", doc, re.M) for form in forms), forms


def test_what_is_written_is_what_its_name_says(tmp_path):
    text = "f 0 4 a\nr 0 4 h=7\nw 2\n"
    done = hipec("trace", "convert", "-", "t.txt.zst", data=text, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, b"hipec trace: pages 0 to 3 are a\n")
    assert (tmp_path / "t.txt.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    assert convert((tmp_path / "t.txt.zst").read_bytes())[0] == text.encode()
    done = hipec("trace", "convert", "-", "t.csv.zst", data=text, cwd=tmp_path)
    assert done.stderr.startswith(b"hipec trace: csv has no files: their names are not in it\n"
                                  b"hipec trace: csv has no hints and no program contexts")
    assert convert((tmp_path / "t.csv.zst").read_bytes())[0] == b"r 0 4\nw 2\n"
    done = hipec("trace", "convert", "-", "t.gz", data=text, cwd=tmp_path)
    assert done.returncode == 2 and b"can be compressed by zstd, as .zst, and not as .gz" in done.stderr
    assert b"oracle has no writes: 1 of them are reads in it" in hipec(
        "trace", "convert", "-", "t.oracleGeneral", data=text, cwd=tmp_path).stderr


def test_a_link_that_is_written_to_stays_one(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    assert hipec("trace", "convert", "-", "link", data="r 1\n", cwd=tmp_path).returncode == 0
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_text() == "r 1\n"
