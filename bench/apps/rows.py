# SPDX-License-Identifier: GPL-2.0-only
"""The rows of make bench-apps: programs that nobody here wrote, and their data.

A Row's make(where, small) writes its data, the same bytes each time; script is what runs in
the data's directory, by busybox's shell, PASSES times over. Its "after)" part, if there is
one, is run behind it, and measured by itself.
"""

import dataclasses
import hashlib
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import tempfile
import typing

MB = 1 << 20

# The policies that each row is run under; a row may have others.
POLICIES = ("mru", "lirs", "arc", "w-tinylfu")
# What advice.c knows.
ADVICE = ("sequential", "random", "noreuse", "dontneed")
# For files that one window of read-ahead holds, the others say nothing.
FOR_SMALL_FILES = ("noreuse", "dontneed")


@dataclasses.dataclass(frozen=True)
class Row:
    """A program, its data, and how it is run."""
    name: str
    what: str                   # for the table
    programs: tuple             # Debian's, "PATH" or "PATH:NAME IN THE GUEST"
    make: typing.Callable
    script: str
    passes: int = 10
    share: float = 0.7          # of the data's pages, that there is memory for
    beside: int = 2 * MB        # and for the program itself
    attach: str = "."           # "@": what the cgroup opens
    budget: int = 0             # bytes; none: all of the memory
    policies: tuple = POLICIES
    in_small: tuple = ()        # policies of the small form; none: the first one
    advice: tuple = ADVICE
    variants: tuple = ()        # of the program's own options: $VARIANT
    counted: str = "."          # the data of which there is a share in memory
    writes: bool = False        # into its data's directory
    afresh: bool = False        # and each run begins with the data as they were made
    files: tuple = ()           # of /usr, that the program wants
    alike: str = ""             # the row that hipec try looks at, in this one's place
    goal: int = 0               # percent of MGLRU's reads to save; negative: to cost at most


HERE = pathlib.Path(__file__).parent
CACHE = pathlib.Path(os.environ.get("HIPEC_CACHE") or pathlib.Path(
    os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "hipec")
# What llama.sh has built, for the Makefile too.
LLAMA = CACHE / f"llama-{hashlib.sha256((HERE / 'llama.sh').read_bytes()).hexdigest()[:12]}"
# The same of usearch.sh.
USEARCH = CACHE / ("usearch-" + hashlib.sha256(b"".join(
    (HERE / name).read_bytes() for name in ("usearch.sh", "nearest.cpp"))).hexdigest()[:12])


def headers(where, small):
    """C headers: those of a kernel, in their tree."""
    trees = sorted((CACHE / "kernels/6.12").glob("*/usr/src/linux-headers-*-common"))
    names = ("linux",) if small else ("linux", "net", "uapi", "media", "sound", "drm")
    for name in names:
        shutil.copytree(trees[0] / "include" / name, where / name)


def cscope(where, small):
    """Its database of these headers."""
    headers(where, small)
    files = sorted(str(path.relative_to(where)) for path in where.rglob("*.h"))
    (where / "cscope.files").write_text("\n".join(files) + "\n")
    subprocess.run(["cscope", "-b", "-k", "-c"], cwd=where, check=True,
                   stdout=subprocess.DEVNULL)
    for path in where.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    (where / "cscope.files").unlink()


def table_of_numbers(where, small):
    """Lines of 64 numbers, as text."""
    rng = random.Random(20)
    with open(where / "numbers", "w", encoding="ascii") as out:
        for _ in range(40_000 if small else 70_000):
            out.write(" ".join(f"{rng.random():.6f}" for _ in range(64)) + "\n")


def database(where, small):
    """A table of rows smaller than a page."""
    import sqlite3  # pylint: disable=import-outside-toplevel
    rng = random.Random(21)
    connection = sqlite3.connect(where / "table.db")
    connection.execute("create table t(a integer primary key, b)")
    connection.executemany("insert into t values (?, ?)", (
        (number, rng.randbytes(500).hex()) for number in range(10_000 if small else 36_000)))
    connection.commit()
    connection.close()


def rocksdb(where, small):
    """Values for keys at random, in one table of RocksDB; fewer would fit in memory."""
    del small
    subprocess.run(["db_bench", f"--db={where}/db", "--benchmarks=fillrandom,compact",
                    "--num=100000", "--value_size=600",
                    "--compression_type=none", "--seed=1", "--write_buffer_size=4000000"],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def repository(where, small):
    """The headers, as git has them when they were checked out."""
    headers(where, small)
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "HOME": str(where)}
    for command in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", where, *command], check=True, env=env)
    # Searching a work tree reads no object.
    shutil.rmtree(where / ".git/objects")
    (where / ".git/objects").mkdir()


def beside_a_hot_set(where, small):
    """The headers, and a file of somebody else's."""
    (where / "tree").mkdir()
    headers(where / "tree", small)
    with open(where / "hot", "wb") as out:
        out.write(random.Random(22).randbytes((8 if small else 16) * MB))


def backed_up(where, small):
    """The same, and where restic puts what it read."""
    beside_a_hot_set(where, small)
    (where / "repository").mkdir()


def lmdb(where, small):
    """Of 4,000 keys in a map, or 10,000."""
    rng = random.Random(23)
    lines = ["VERSION=3", "format=bytevalue", "type=btree", "mapsize=268435456",
             "maxreaders=126", "HEADER=END"]
    for key in range(4_000 if small else 10_000):
        lines += [f" {key.to_bytes(4, 'big').hex()}", f" {rng.randbytes(1500).hex()}"]
    subprocess.run(["mdb_load", "-n", where / "data.mdb"], check=True, text=True,
                   input="\n".join([*lines, "DATA=END", ""]))
    (where / "data.mdb-lock").unlink(missing_ok=True)


def model(where, layers, experts):
    """A language model of random weights."""
    subprocess.run(["/usr/bin/python3", HERE / "model.py", LLAMA, where / "model.gguf",
                    str(layers), str(experts)], check=True)


def dense(where, small):
    """All weights are of use to each token. A smaller one would fit beside what is for itself."""
    del small
    model(where, 12, 0)


def mixture(where, small):
    """Each layer uses two of 16 parts for a token."""
    del small
    model(where, 3, 16)


def vectors(where, small):
    """An index of nearest neighbours, for vectors of 1 KB."""
    subprocess.run([USEARCH / "nearest", "build", where / "index",
                    "10000" if small else "33000"], check=True)


# One thread: the guest has one CPU, and those that wait for another spin.
GENERATE = """
OMP_NUM_THREADS=1 OMP_THREAD_LIMIT=1 llama-simple -m model.gguf -n "$PASSES" -ngl 0 a 2>/tmp/said-by-llama || {
	tail -n 3 /tmp/said-by-llama
	false
}
"""

POSTGRES = "/usr/lib/postgresql/15/bin/postgres"
# Who runs PostgreSQL here, and in the guest: it refuses to be root's.
NOBODY = 65534
# One statement a line, as PostgreSQL takes them without a server; $ROWS as a row says.
OF_TPC_H = """\
create table orders(o_id int, o_cust int, o_date int, o_total float, o_comment text);
create table lineitem(l_order int, l_qty int, l_price float, l_disc float, l_ship int, \
l_comment text);
insert into orders select g, g * 7919 % 9973, g * 104729 % 2557, g % 1000, repeat('o', 60) \
from generate_series(1::bigint, $ROWS) g;
insert into lineitem select g / 4 + 1, g * 31 % 50, g * 7919 % 10007, g % 10 / 100.0, \
g * 104729 % 2557, repeat('l', 70) from generate_series(1::bigint, 4 * $ROWS - 4) g;
vacuum freeze analyze;
"""
# Those that pgbench makes, and asks for; $ROWS times 100,000 accounts.
OF_PGBENCH = """\
create table pgbench_history(tid int, bid int, aid int, delta int, mtime timestamp, filler char(22));
create table pgbench_tellers(tid int primary key, bid int, tbalance int, filler char(84));
create table pgbench_accounts(aid int primary key, bid int, abalance int, filler char(84));
create table pgbench_branches(bid int primary key, bbalance int, filler char(88));
insert into pgbench_branches select g, 0, '' from generate_series(1, $ROWS) g;
insert into pgbench_tellers select g, (g - 1) / 10 + 1, 0, '' from generate_series(1, 10 * $ROWS) g;
insert into pgbench_accounts select g, (g - 1) / 100000 + 1, 0, '' \
from generate_series(1, 100000 * $ROWS) g;
vacuum freeze analyze;
"""


def cluster(where, statements, rows):
    """A cluster of PostgreSQL's with tables in template1; frozen, so that reading them writes
    nothing."""
    with tempfile.TemporaryDirectory(prefix="hipec-apps-") as made:
        os.chmod(made, 0o755)
        prefix = []
        if not os.getuid():
            os.chown(made, NOBODY, NOBODY)
            prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        subprocess.run([*prefix, pathlib.Path(POSTGRES).with_name("initdb"), "-D", f"{made}/pg",
                        "--username=postgres", "--no-sync", "--locale=C", "--wal-segsize=1",
                        "--auth=trust"], cwd="/",
                       check=True, stdout=subprocess.DEVNULL, env={**os.environ, "TZ": "GMT"})
        said = subprocess.run(
            [*prefix, POSTGRES, "--single", "-D", f"{made}/pg", "-c", "fsync=off", "template1"],
            input=statements.replace("$ROWS", str(rows)), cwd="/", check=True,
            text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
        if "ERROR" in said:
            raise RuntimeError(said)
        shutil.move(f"{made}/pg", where / "pg")


def postgres(where, small):
    """Two tables of TPC-H's kind."""
    cluster(where, OF_TPC_H, 20_000 if small else 60_000)


def pgbench(where, small):
    """What pgbench asks for."""
    cluster(where, OF_PGBENCH, 1 if small else 2)


# In run.sh's shell: $as, what has a program run as PostgreSQL's own user, who gets the data.
AS_POSTGRES = f"""
as=
if [ "$(id -u)" = 0 ]; then
	chown -R {NOBODY} pg && chmod 700 pg
	as="gnu-setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups"
fi
"""
QUERIES = """\
select l_qty, count(*), sum(l_price * (1 - l_disc)), avg(l_disc) from lineitem \
where l_ship <= 2400 group by l_qty order by l_qty;
select sum(l_price * l_disc) from lineitem where l_ship between 365 and 729 and l_qty < 24;
select o_date % 12, count(*), sum(l_price) from orders join lineitem on l_order = o_id \
where o_date < 500 group by 1 order by 1;"""

CC1 = "/usr/lib/gcc/x86_64-linux-gnu/12/cc1"
# How a kernel's units are compiled, where its headers are in these folders.
FLAGS = ("-quiet -nostdinc -Icommon/arch/x86/include -Iconfig/arch/x86/include/generated "
         "-Icommon/include -Iconfig/include -Icommon/arch/x86/include/uapi "
         "-Iconfig/arch/x86/include/generated/uapi -Icommon/include/uapi "
         "-Iconfig/include/generated/uapi -include common/include/linux/compiler-version.h "
         "-include common/include/linux/kconfig.h -include common/include/linux/compiler_types.h "
         "-D__KERNEL__ -DMODULE -DKBUILD_MODNAME=\\\"unit\\\" -std=gnu11 -O1 -w -fshort-wchar "
         "-fno-PIE -mcmodel=kernel -mno-sse -mno-red-zone -fno-strict-aliasing")
UNITS = (("fs", "pagemap", "writeback"), ("netdevice", "skbuff", "if_vlan"), ("pci", "msi"),
         ("blkdev", "bio"), ("usb", "usb/hcd"), ("of", "platform_device", "regulator/driver"),
         ("net", "tcp", "udp"), ("sched", "sched/mm", "kthread"))


def units(where, small):
    """Units of C, as a kernel's drivers begin, and the headers that they include."""
    trees = CACHE / "kernels/6.12"
    for name, end in (("common", "common"), ("config", "cloud-amd64")):
        tree = next(trees.glob(f"*/usr/src/linux-headers-*-{end}"))
        (where / name).symlink_to(tree)
    used = set()
    for number, names in enumerate(UNITS[:2] if small else UNITS):
        unit = where / f"unit{number}.c"
        unit.write_text("".join(f"#include <linux/{name}.h>\n" for name in names) +
                        f"int unit{number}(struct page *page)\n{{\n"
                        "\treturn PageLocked(page);\n}\n")
        said = subprocess.run([CC1, "-E", "-M", *shlex.split(FLAGS), unit.name], cwd=where,
                              check=True, stdout=subprocess.PIPE, text=True).stdout
        used |= {word for word in said.split() if word.endswith(".h")}
    places = {name: (where / name).resolve() for name in ("common", "config")}
    for name in places:
        (where / name).unlink()
    for path in used:
        name, _, rest = path.partition("/")
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(places[name] / rest, where / path)


WORDS = "page folio inode device lock list atomic timer queue file"

ROWS = [
    Row("cscope", "cscope: ten symbols, one after the other, in the database of a kernel's headers",
        ("/usr/bin/cscope",), cscope, f"""
set -- {WORDS}
while [ "$PASSES" -gt 0 ]; do
	cscope -d -L -0 "$1" || exit
	shift
	PASSES=$((PASSES - 1))
done
""", in_small=("mru", "w-tinylfu"), goal=50),
    Row("gnuplot", "gnuplot: ten columns of a table of numbers, each a plot of its own",
        ("/usr/bin/gnuplot",), table_of_numbers, """
gnuplot -e "set terminal dumb 79 24; set key off; plot for [c=2:$((PASSES + 1))] \\
	'numbers' using 1:c every 400 with dots"
""", beside=6 * MB, goal=50),
    Row("sqlite3", "sqlite3: a table is scanned ten times",
        ("/usr/bin/sqlite3",), database, """
{
	[ "$VARIANT" = - ] || echo "pragma $VARIANT;"
	while [ "$PASSES" -gt 0 ]; do
		echo "select count(*), max(substr(b, $PASSES, 9)), sum(length(b)) from t;"
		PASSES=$((PASSES - 1))
	done
} | sqlite3 -readonly table.db | grep -v '^100000000$'
""", beside=4 * MB, variants=("mmap_size=100000000",), goal=40),
    Row("grep", "grep -r: ten searches in a kernel's headers",
        ("/usr/bin/grep:gnu-grep",), headers, f"""
set -- {WORDS}
while [ "$PASSES" -gt 0 ]; do
	gnu-grep -r -c -w "$1" . || exit
	shift
	PASSES=$((PASSES - 1))
done
""", goal=60, advice=FOR_SMALL_FILES),
    Row("rg", "rg: the same, by ripgrep in one thread",
        ("/usr/bin/rg",), headers, f"""
set -- {WORDS}
[ "$VARIANT" != - ] || VARIANT=--no-mmap
while [ "$PASSES" -gt 0 ]; do
	rg -j1 --no-ignore -c -w "$VARIANT" "$1" . || exit
	shift
	PASSES=$((PASSES - 1))
done
""", beside=4 * MB, variants=("--mmap",), goal=60, advice=FOR_SMALL_FILES),
    Row("git", "git grep: the same, in a work tree, in one thread",
        ("/usr/bin/git",), repository, f"""
set -- {WORDS}
while [ "$PASSES" -gt 0 ]; do
	git -c safe.directory='*' grep --threads=1 -c -w "$1" || exit
	shift
	PASSES=$((PASSES - 1))
done
""", beside=6 * MB, goal=60, advice=FOR_SMALL_FILES),
    Row("find", "find and cat: all files of a tree, once",
        ("/usr/bin/find:gnu-find", "/bin/cat:gnu-cat"), headers, """
gnu-find . -type f -exec gnu-cat {} +
""", passes=1, goal=-2, advice=FOR_SMALL_FILES),
    Row("compile", "gcc's compiler: eight units of C of a kernel, one after the other",
        (CC1,), units, f"""
for unit in unit*.c; do
	cc1 {FLAGS} -o - "$unit" || exit
done
""", passes=1, share=0.6, beside=104 * MB, goal=-2, advice=FOR_SMALL_FILES),
    Row("tar", "tar of a tree, beside a file that somebody else reads again and again",
        ("/bin/tar:gnu-tar", "/bin/cat:gnu-cat"), beside_a_hot_set, """
case $1 in
main)
	gnu-cat hot hot hot | md5sum
	gnu-tar --sort=name -cf - tree
;;
after)
	gnu-cat hot | md5sum
esac
""", passes=1, attach="tree", budget=4 * MB, share=0.45, policies=("fifo", "mru", "arc"),
        advice=FOR_SMALL_FILES),
    Row("postgres", "PostgreSQL 15: four rounds of three queries of TPC-H's kind",
        (POSTGRES, "/usr/bin/setpriv:gnu-setpriv"), postgres, f"""
rounds()
{{
	while [ "$PASSES" -gt 0 ]; do
		cat <<END
{QUERIES}
END
		PASSES=$((PASSES - 1))
	done
}}
{AS_POSTGRES}
rounds | $as postgres --single -D pg -c shared_buffers=1MB -c jit=off -c fsync=off \
	-c max_parallel_workers_per_gather=0 template1 2>/tmp/said-by-postgres || {{
	tail -n 3 /tmp/said-by-postgres
	false
}}
""", passes=4, share=0.4, beside=12 * MB, attach="pg/base", counted="pg/base/1", writes=True,
        files=("share/postgresql/15",), advice=(), goal=40),
    Row("pgbench", "PostgreSQL's pgbench: four times 200 transactions, and then a sum over all "
        "accounts",
        (POSTGRES, "/usr/lib/postgresql/15/bin/pgbench", "/usr/lib/postgresql/15/bin/psql",
         "/usr/bin/setpriv:gnu-setpriv"), pgbench, f"""
{AS_POSTGRES}
export PGHOST=/tmp PGPORT=54329 PGUSER=postgres PGDATABASE=template1
# shellcheck disable=SC2086 # a list of words
$as postgres -D pg -k $PGHOST -p $PGPORT -c listen_addresses= -c shared_buffers=1MB \\
	-c dynamic_shared_memory_type=mmap -c autovacuum=off -c jit=off -c wal_sync_method=fsync \\
	-c max_parallel_workers_per_gather=0 >/tmp/said-by-postgres 2>&1 &
server=$!
asked()
{{
	until psql -qtc 'select 1' >/dev/null 2>&1; do
		kill -0 $server 2>/dev/null || return
		sleep 1
	done
	while [ "$PASSES" -gt 0 ]; do
		pgbench -n -t 200 --random-seed="$PASSES" 2>&1 | grep 'actually processed' &&
			psql -qtc 'select count(*), sum(abalance) from pgbench_accounts' || return
		PASSES=$((PASSES - 1))
	done
}}
asked
failed=$?
kill -INT $server
wait $server && [ $failed = 0 ] || {{
	tail -n 3 /tmp/said-by-postgres
	false
}}
""", passes=4, share=0.5, beside=20 * MB, attach="pg/base", counted="pg/base/1", writes=True,
        afresh=True, files=("share/postgresql/15",), advice=(),
        in_small=("lirs",)),
    Row("sqlite3-writes", "sqlite3: a table is scanned six times; each time a hundredth of its "
        "rows is written before",
        ("/usr/bin/sqlite3",), database, """
journal=delete
[ "$VARIANT" = - ] || journal=$VARIANT
{
	echo "pragma journal_mode=$journal;"
	while [ "$PASSES" -gt 0 ]; do
		echo "update t set b = b || '' where a % 100 = $PASSES;"
		echo "select count(*), max(substr(b, $PASSES, 9)), sum(length(b)) from t;"
		PASSES=$((PASSES - 1))
	done
	echo "pragma integrity_check; pragma journal_mode=delete;"
} | sqlite3 table.db | grep -v -E '^(delete|wal)$'
""", passes=6, beside=4 * MB, writes=True, variants=("wal",), advice=(), goal=40),
    Row("rocksdb", "RocksDB, its own benchmark: four scans of all keys, each before 500 look-ups",
        ("/usr/bin/db_bench",), rocksdb, """
how="--db=db --use_existing_db --readonly --value_size=600 --cache_size=1000000 --seed=1"
while [ "$PASSES" -gt 0 ]; do
	# shellcheck disable=SC2086 # a list of words
	db_bench $how --benchmarks=readseq --num=100000
	# shellcheck disable=SC2086 # likewise
	db_bench $how --benchmarks=readrandom --num=100000 --reads=500
	PASSES=$((PASSES - 1))
done 2>/dev/null | sed -n 's/.*(\\([0-9]* of [0-9]* found\\)).*/\\1/p'
""", passes=4, beside=12 * MB, goal=25),
    Row("restic", "restic: a backup of a tree, beside a file that somebody else reads again and again",
        ("/usr/bin/restic", "/bin/cat:gnu-cat"), backed_up, """
export GOMAXPROCS=1 GOGC=20 RESTIC_PASSWORD=x RESTIC_REPOSITORY=repository RESTIC_CACHE_DIR=/tmp/cache
case $1 in
main)
	gnu-cat hot hot hot | md5sum
	{
		rm -rf repository/* && restic init && restic backup --no-cache tree
	} >/tmp/said-by-restic 2>&1 || {
		tail -n 3 /tmp/said-by-restic
		false
	}
;;
after)
	gnu-cat hot | md5sum
esac
""", passes=1, attach="tree repository", budget=4 * MB, share=0.45, beside=70 * MB,
        policies=("fifo",), writes=True, advice=()),
    Row("llama", "llama.cpp: 16 tokens of a language model",
        (f"{LLAMA}/llama-simple",), dense, GENERATE, passes=16, share=1 / 1.5, beside=36 * MB,
        goal=60),
    Row("llama-moe", "llama.cpp: the same, of a mixture of 16 experts, two for each token",
        (f"{LLAMA}/llama-simple",), mixture, GENERATE, passes=16, share=1 / 1.5, beside=36 * MB),
    Row("usearch", "usearch: nearest neighbours of 200 random vectors, by an index that it maps",
        (f"{USEARCH}/nearest",), vectors, """
nearest ask index $((PASSES * 20))
""", share=0.5, beside=6 * MB, in_small=("w-tinylfu",)),
    Row("lmdb", "LMDB: its database is dumped eight times, through a map",
        ("/usr/bin/mdb_dump",), lmdb, """
while [ "$PASSES" -gt 0 ]; do
	mdb_dump -n data.mdb || exit
	PASSES=$((PASSES - 1))
done
""", passes=8, beside=4 * MB, goal=40),
    Row("container", "the row cscope in a container: namespaces and an overlay of its own, "
        "attached from outside by its cgroup",
        ("/usr/bin/cscope",), cscope, f"""
set -- {WORDS}
root=/tmp/root
mkdir -p $root /tmp/up /tmp/work
# shellcheck disable=SC2016 # for that shell
exec unshare -m -i -u sh -c '
mount -t overlay -o "lowerdir=$PWD:/,upperdir=/tmp/up,workdir=/tmp/work" overlay '$root' || exit
while [ "$PASSES" -gt 0 ]; do
	chroot '$root' cscope -d -L -f /cscope.out -0 "$1" || exit
	shift
	PASSES=$((PASSES - 1))
done' sh "$@"
""", attach="--cgroup @", alike="cscope", advice=(), goal=50),
]
