# SPDX-License-Identifier: GPL-2.0-only
"""make install into a folder, and what is there: it runs from there, compiles programs, knows
its options, and goes again."""

import fnmatch
import os
import re
import shutil
import subprocess
import sys

import pytest

from conftest import BUILD, ROOT

PYTHON = "/usr/bin/python3"
sys.path.insert(0, str(ROOT / "packaging"))

import helptext  # noqa: E402  (packaging/helptext.py)
import manual  # noqa: E402  (packaging/manual.py)
import parameters  # noqa: E402  (packaging/parameters.py)

pytestmark = pytest.mark.user


def output(*command, **kwargs):
    """What a command prints; it must not fail."""
    return subprocess.run(command, capture_output=True, text=True, check=True, **kwargs).stdout


def files(where):
    """All but folders, from there."""
    return sorted(str(path.relative_to(where)) for path in where.rglob("*")
                  if path.is_symlink() or not path.is_dir())


def make(target, where):
    subprocess.run(["make", "-s", "-C", ROOT, target, f"DESTDIR={where}", "prefix=/usr"],
                   check=True, capture_output=True, text=True)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    where = tmp_path_factory.mktemp("root")
    make("install", where)
    return where


@pytest.fixture
def run(root, tmp_path):
    """Run an installed command, in an empty folder, and look at what it says."""
    def call(name, *args):
        return subprocess.run([root / "usr/bin" / name, *map(str, args)], cwd=tmp_path, text=True,
                              capture_output=True, check=False, timeout=60,
                              stdin=subprocess.DEVNULL,
                              env={"PATH": f"{root}/usr/bin:/usr/bin:/bin", "LC_ALL": "C"})
    return call


def test_commands_say_their_version(run):
    version = re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]
    assert run("hipec", "--version").stdout == f"hipec {version}\n"
    assert run("ampc", "--version").stdout == f"ampc {version}\n"


def test_shipped_policies_are_found_and_compile(run, root, tmp_path):
    """By their names, and as sources by the compiler beside the command."""
    shipped = root / "usr/share/hipec/policies"
    assert {path.stem for path in shipped.glob("*.hpo")} == \
           {path.stem for path in (ROOT / "policies").glob("*.hp")}
    assert run("ampc", "-o", "own.hpo", shipped / "mru.hp").returncode == 0
    assert (tmp_path / "own.hpo").read_bytes() == (shipped / "mru.hpo").read_bytes()
    (tmp_path / "trace").write_text("r 1 3\nr 1 3\n")
    for policy in ("mru", shipped / "mru.hp"):
        got = run("hipec", "sim", "-p", policy, "-f", "2", "trace")
        assert got.returncode == 0 and "mru" in got.stdout, got.stderr


def test_the_schemas_are_installed(root):
    made = {path.name: path.read_bytes() for path in (BUILD / "schemas").iterdir()}
    assert len(made) > 15 and made == {
        path.name: path.read_bytes() for path in (root / "usr/share/hipec/schemas").iterdir()}


def test_programs_get_the_libraries(run, tmp_path):
    """Of hipec trace and hipec run."""
    got = run("hipec", "trace", "-o", "cat.trace", "--", "cat", "/etc/passwd")
    assert got.returncode == 0 and (tmp_path / "cat.trace").exists(), got.stderr
    got = run("hipec", "run", "--policy", "mru", "--budget", "1M", "--", "env")
    assert got.returncode == 0, got.stderr


def test_a_library_that_is_not_there_is_missed(root, run):
    """Which shows that the test above is about the installed one."""
    library = root / "usr/lib/hipec/libhipectrace.so"
    library.rename(f"{library}.away")
    got = run("hipec", "trace", "-o", "x.trace", "--", "true")
    os.rename(f"{library}.away", library)
    assert got.returncode == 1 and "want libhipectrace.so beside" in got.stderr


def test_profiles_are_drawn(run, tmp_path):
    (tmp_path / "trace").write_text("r 1 3\nr 1 3\n")
    got = run("hipec", "profile", "-p", "mru", "--text", "trace")
    assert got.returncode == 0 and "mru" in got.stdout, got.stderr


def declared():
    """Functions of hipec.h."""
    return set(re.findall(r"^\w.*?\b(hipec_\w+)\(", (ROOT / "userlib/lib/hipec.h").read_text()
                          .partition('extern "C" {')[2], re.M))


def test_library_exports_what_its_header_declares_each_with_a_version(root):
    """libhipec.map has to be told of a new function, and by which release it came."""
    library = root / "usr/lib/libhipec.so"
    symbols = [line.split() for line in output("nm", "-D", "--defined-only", library).splitlines()]
    found = {name for _, kind, name in symbols if kind != "A"}
    assert {name.split("@@")[0] for name in found} == declared()
    assert all(re.fullmatch(r"hipec_\w+@@LIBHIPEC_\d+\.\d+", name) for name in found)
    assert "soname: [libhipec.so.0]" in output("readelf", "-d", library)
    assert (root / "usr/lib/libhipec.so.0").resolve() == library.resolve()


def compiler(root, *command):
    """Compile with the flags that pkg-config gives."""
    env = {**os.environ, "PKG_CONFIG_PATH": f"{root}/usr/lib/pkgconfig",
           "PKG_CONFIG_SYSROOT_DIR": str(root)}
    ask = ["--static"] if "-static" in command else []
    flags = output("pkg-config", "--cflags", "--libs", *ask, "hipec", env=env).split()
    subprocess.run([*command, *flags], check=True)


@pytest.mark.parametrize("static", [[], ["-static"]], ids=["shared", "static"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_programs_compile_and_run(root, tmp_path, language, static):
    """In C and in C++, with all warnings; and no call does anything without the module."""
    program = tmp_path / "program"
    cc = ["gcc", "-std=c11"] if language == "c" else ["g++", "-std=c++11"]
    compiler(root, *cc, "-x", language, "-Wall", "-Wextra", "-Wpedantic", "-Werror", *static,
             "-o", program, ROOT / "test/packaging/install/absent.c", "-x", "none")
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")
    assert output(program, env={"LD_LIBRARY_PATH": f"{root}/usr/lib"}) == "all is refused\n"


def test_no_call_is_left_out_above():
    """absent.c calls each function."""
    called = set(re.findall(r"hipec_\w+(?=\()", (ROOT / "test/packaging/install/absent.c").read_text()))
    assert declared() <= called


# hipec's verbs, and ampc.
HELP = dict(helptext.verbs(BUILD / "hipec")) if (BUILD / "hipec").exists() else {}


def words(text):
    """Without the marks that differ: hyphens, quotes, line breaks inside words."""
    return re.sub(r"[\s‐-]+|\W", "", text)


def page(root, name, section, columns=78):
    """A man page as it is read; nothing in it is wrong, but for what is wider than that."""
    got = subprocess.run(["groff", "-t", "-man", "-ww", f"-rLL={columns}n", "-Tutf8", "-P-cbou", "-rHY=0", "-K", "utf8",
                          root / f"usr/share/man/man{section}/{name}.{section}"],
                         capture_output=True, text=True, check=True)
    assert not got.stderr
    return got.stdout


@pytest.fixture
def groff():
    if not shutil.which("groff"):
        pytest.skip("no groff, which formats man pages")


@pytest.mark.usefixtures("groff")
@pytest.mark.parametrize("verb", HELP)
def test_man_pages_say_what_help_says(root, verb):
    text = words(page(root, f"hipec-{verb}", 1))
    for line in [*HELP[verb].synopsis, HELP[verb].summary, *HELP[verb].lines,
                 *(line for example in HELP[verb].examples for line in example)]:
        assert words(line) in text.replace("usrsharedochipecdocs", "docs")
    assert ("EXAMPLES" in text) == bool(HELP[verb].examples)


def test_man_pages_name_files_that_are_installed(root):
    """All documents, by where they are."""
    named = set()
    for path in root.glob("usr/share/man/man*/*"):
        text = path.read_text().replace("\\-", "-")
        assert "@" not in text
        named |= set(re.findall(r"[\w/-]*docs/[\w/-]+\.md", text))
    assert len(named) > 12
    assert [name for name in named if not (root / name.lstrip("/")).is_file()] == []


def test_help_says_where_the_documents_are(run, root):
    """Where they are installed; in the sources they are where it says."""
    line = f"The folder docs/ is {root}/usr/share/doc/hipec/docs.\n"
    assert run("hipec", "help", "sim").stdout.endswith(line)
    assert line not in run("hipec", "help", "detach").stdout
    assert "The folder" not in output(BUILD / "hipec", "help", "sim")


@pytest.mark.usefixtures("groff")
def test_man_pages_of_the_compiler_the_library_and_the_device(root):
    text = words(page(root, "ampc", 1))
    for line in helptext.of_program(BUILD / "ampc", "ampc").lines:
        assert words(line) in text
    text = words(page(root, "libhipec", 3))
    for name in declared():
        assert "Returns" in text and text.count(name) > 1
        assert (root / f"usr/share/man/man3/{name}.3").read_text() == ".so man3/libhipec.3\n"
    text = page(root, "hipec", 1)
    for name in [*(f"hipec-{verb}(1)" for verb in HELP), *(f"{name}(5)" for name in manual.FORMATS)]:
        assert name in text
    text = words(page(root, "hipec", 4))
    for name, _, meaning in parameters.parameters():
        assert words(name + meaning) in text


def pieces(document, heading):
    """Paragraphs, cells and lines of code of a document, or of what is below a heading in it."""
    text = (ROOT / f"docs/{document}.md").read_text().split("\n", 1)[1]
    if heading:
        text = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    text = re.sub(r"\]\([^)]*\)", "", text)
    for number, block in enumerate(re.split(r"^```.*\n", text, flags=re.M)):
        for part in block.split("\n" if number % 2 else "\n\n"):
            yield from part.split("|") if part.startswith("|") else [part]


@pytest.mark.usefixtures("groff")
@pytest.mark.parametrize("name", manual.FORMATS)
def test_man_pages_of_formats_say_what_the_documents_say(root, name):
    """All of it; so wide that no cell of a table is broken."""
    page(root, name, 5)
    text = words(page(root, name, 5, 1500))
    document, sections, *_ = manual.FORMATS[name]
    found = [words(piece) for section in sections or [None] for piece in pieces(document, section)]
    assert sum(map(len, found)) > 300
    for piece in found:
        assert piece.lower() in text.lower()


def constant(path, pattern):
    """What a source defines."""
    return re.search(pattern, (ROOT / path).read_text())[1]


@pytest.mark.usefixtures("groff")
def test_man_pages_of_formats_have_the_magics_and_versions(root):
    """As the sources have them."""
    text = page(root, "hipec-hpo", 5)
    uapi = "module/include/uapi/hipec.h"
    magic = int(constant(uapi, r"#define HIPEC_IMAGE_MAGIC\s+(0x[0-9a-f]+)"), 16)
    version = constant(uapi, r"#define HIPEC_IMAGE_VERSION\s+(\d+)")
    assert re.search(rf"magic +{magic:#x}", text) and re.search(rf"version +{version}\n", text)
    text = page(root, "hipec-trace", 5)
    version = constant("userlib/trace/bin.c", r"#define VERSION (\d+)")
    assert re.search(r"0 to 7 +93 and hptrace\n", text)
    assert re.search(rf"8 to 11 +{version}, the version", text)
    text = " ".join(page(root, "hipec-record", 5).split())
    magic = constant("userlib/record/record.h", r'RECORD_FILE_MAGIC "\\x93(\w+)"')
    version = constant("userlib/record/record.h", r"RECORD_FILE_VERSION (\d+)")
    assert f"93 and {magic}, the version, {version}," in text
    assert constant("userlib/amp/state.c", r'"(hipec-amp \d+)') in page(root, "hipec-hints", 5)
    keywords = re.findall(r'\{ "([A-Za-z]+)", TOK_', (ROOT / "compiler/lexer.l").read_text())
    assert set(keywords) <= set(re.findall(r"\w+", page(root, "hipec-hp", 5).lower()))


def test_each_file_is_in_one_package(root):
    """Where a file goes is make install's to say; whose it is, packaging/debian/*.install."""
    lists = {path.stem: path.read_text().split()
             for path in (ROOT / "packaging/debian").glob("*.install")}
    for path in files(root):
        if re.match(r"usr/lib/(libhipec|pkgconfig)", path):
            path = path.replace("usr/lib/", "usr/lib/triplet/")
        owners = [name for name, patterns in lists.items() if any(
            fnmatch.fnmatch(path, pattern) or fnmatch.fnmatch(path, f"{pattern}/*")
            for pattern in patterns)]
        assert len(owners) == 1, (path, owners)


def complete(root, *line):
    """What bash offers for the last word."""
    script = (f". {root}/usr/share/bash-completion/completions/hipec; COMP_WORDS=(\"$@\"); "
              "COMP_CWORD=$(($# - 1)); _hipec; printf '%s\\n' \"${COMPREPLY[@]}\"")
    return output("bash", "-c", script, "bash", *line, cwd="/",
                  env={"PATH": f"{root}/usr/bin:/usr/bin:/bin"}).split()


@pytest.mark.parametrize("value", ["y", "n"])
def test_kbuild_refuses_real_time_kernels(value):
    """And no others: in a word, before a source that does not compile there."""
    kbuild = f"all: ;\nsrc := module\nobj := module\nCONFIG_PREEMPT_RT := {value}\ninclude module/Kbuild\n"
    got = subprocess.run(["make", "-s", "-f", "-"], input=kbuild, cwd=ROOT, text=True,
                         capture_output=True, check=False)
    said = "hipec is not built for real-time kernels (CONFIG_PREEMPT_RT).  Stop." in got.stderr
    assert (got.returncode != 0, said) == (value == "y", value == "y"), got.stderr


def test_completion_offers_the_verbs_and_the_policies(root):
    assert set(complete(root, "hipec", "")) == {*HELP, "help", "--help", "--version"}
    assert complete(root, "hipec", "stat") == ["status"]
    assert complete(root, "hipec", "sim", "--pol") == ["--policy"]
    assert sorted(complete(root, "hipec", "sim", "--policy", "mru")) == ["mru", "mru-touch"]
    assert "--explain-cost" in complete(root, "ampc", "--")


def test_completion_offers_what_options_want(root):
    """Lists with commas, modes, columns, forms, kinds; verbs of verbs; commands behind --."""
    assert {"lru,mru", "lru,mru-touch"} <= {*complete(root, "hipec", "sim", "-p", "lru,mru")}
    assert "opt,clock" in complete(root, "hipec", "sim", "--policy", "opt,cl")
    assert complete(root, "hipec", "sim", "--among", "lru,scan-r") == ["lru,scan-resistant"]
    assert complete(root, "hipec", "top", "--sort", "lo")[0] == "loss"
    assert complete(root, "hipec", "sim", "--mode", "")[:2] == ["mapped", "exact"]
    assert complete(root, "hipec", "sim", "--columns", "faults,writt") == ["faults,written"]
    assert complete(root, "hipec", "trace", "convert", "--from", "blkp") == ["blkparse"]
    assert complete(root, "hipec", "trace", "make", "zi") == ["zipf"]
    assert complete(root, "hipec", "trace", "inf") == ["info"]
    assert complete(root, "hipec", "amp", "det") == ["detect"]
    assert complete(root, "hipec", "help", "stat") == ["status"]
    assert "true" in complete(root, "hipec", "trace", "-o", "x", "--", "tru")


def verbs_below(verb):
    """Those that some verbs have of their own, as hipec trace convert."""
    return [found[1] for line in HELP[verb].synopsis
            if (found := re.match(rf"hipec {verb} ((?:--)?[a-z]+) ", line))]


@pytest.mark.parametrize("verb", HELP)
def test_options_that_completion_offers_exist(root, run, verb):
    """The command knows each of them, whatever else it has to say."""
    for option in complete(root, "hipec", verb, "-"):
        said = [run("hipec", verb, *below, option).stderr
                for below in [[], *([name] for name in verbs_below(verb))]]
        assert not all(re.search("there is no option", text)
                       for text in said), option


def test_uninstall_leaves_what_others_have(tmp_path):
    """Files and folders; nothing of ours."""
    other = tmp_path / "usr/share/man/man1/other.1"
    other.parent.mkdir(parents=True)
    other.write_text("")
    make("install", tmp_path)
    assert len(files(tmp_path)) > 100
    make("uninstall", tmp_path)
    assert files(tmp_path) == [str(other.relative_to(tmp_path))]
    assert not list(tmp_path.rglob("*hipec*"))


@pytest.mark.parametrize("linked", [False, True], ids=["none", "linked"])
def test_a_program_may_do_without_the_library(root, tmp_path, linked):
    """test/packaging/install/weak.c, which docs/user/install.md shows: the same sum, and why it is
    without."""
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")
    program = tmp_path / "weak"
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", f"-I{root}/usr/include", "-o", program,
                    ROOT / "test/packaging/install/weak.c",
                    *([f"-L{root}/usr/lib", "-Wl,--no-as-needed", "-lhipec"] if linked else [])], check=True)
    (tmp_path / "data").write_bytes(b"\1\2\3" * 5000)
    got = subprocess.run([program, "mru.hpo", tmp_path / "data"], text=True, capture_output=True,
                         env={"LD_LIBRARY_PATH": f"{root}/usr/lib"}, check=True)
    assert got.stdout == "30000\n"
    assert got.stderr == ("without hipec: No such file or directory\n" if linked
                          else "without hipec: there is no libhipec\n")


def python(root, code, library, cwd):
    """Run code with the installed package."""
    return subprocess.run([PYTHON, "-B", "-c", f"import hipec, errno, sys\n{code}"], text=True,
                          capture_output=True, check=False, cwd=cwd,
                          env={"PYTHONPATH": f"{root}/usr/lib/python3/dist-packages",
                               "LD_LIBRARY_PATH": str(library),
                               "HIPEC_POLICY_PATH": f"{root}/usr/share/hipec/policies"})


@pytest.fixture(scope="module")
def stub(root, tmp_path_factory):
    """A folder with a libhipec.so.0 that says what it is asked."""
    where = tmp_path_factory.mktemp("stub")
    subprocess.run(["gcc", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{root}/usr/include",
                    "-o", where / "libhipec.so.0", ROOT / "test/packaging/install/stub.c"], check=True)
    return where


ABSENT = """
print(hipec.available())
for call in (lambda: hipec.Container("mru", frames=16), hipec.query):
    try:
        call()
    except hipec.Error as error:
        print(error.errno == errno.ENOENT, error.strerror)
"""


def test_python_without_the_module_or_the_library(root, tmp_path):
    if os.path.exists("/dev/hipec"):
        pytest.skip("the module is loaded here")
    for library, text in [(f"{root}/usr/lib", "/dev/hipec: the module is not loaded "
                           "(modprobe hipec)"), ("/nowhere", "libhipec.so.0 is not installed")]:
        got = python(root, ABSENT, library, tmp_path)
        assert got.stdout == f"False\n{f'True {text}' + chr(10)}" + f"True {text}\n", got.stderr


USE = """
with hipec.Container("mru", frames=1 << 33, share=True, cluster=4) as c:
    with c.map("data") as m, memoryview(m) as view:
        print(len(m), m[4096], view[-1], view.readonly)
    with open("data", "r+b") as file, c.map(file, offset=4096, length=4096, writable=True) as m:
        m[0:1] = b"z"
        print(len(m), m[:2])
    c.set_param("limit", -5)
    s = c.status()
    print(s["policy"], s["regions"], s["exit"]["kind"], s["late"]["message"],
          s["counters"]["faults"], s["counters"]["ahead_dropped"])
    print(c.fileno() >= 0)
print(c.fileno(), hipec.query()["abi_version"], hipec.query()["quota"])
hipec.Container(None, 1).close()
for call in (lambda: hipec.Container("mru", 0), lambda: c.map("data", offset=1),
             lambda: c.set_param("x", 1), lambda: hipec.Container("none", 1)):
    try:
        call()
    except OSError as error:
        print(type(error).__name__, error.errno, error.strerror)
"""


def test_python_says_what_the_library_is_to_hear(root, stub, tmp_path):
    """The stub is compiled with the header: numbers and structs are where they belong."""
    (tmp_path / "data").write_bytes(b"a" * 4096 + b"bc" * 2048)
    policy = f"{root}/usr/share/hipec/policies/mru.hpo"
    size, first = os.path.getsize(policy), ord("H")
    got = python(root, USE, stub, tmp_path)
    assert got.stderr == ""
    assert sorted(got.stdout.splitlines()) == sorted([
        f"load {size} bytes, first {first}, {1 << 33} frames, cluster 4, flags 1",
        "attach 0 0 0 1", "8192 98 99 True",
        "attach 4096 4096 1 1", "4096 b'za'",
        "set limit -5", f"stub 3 5 late {1 << 33} 9", "True", f"-1 7 {1 << 40}",
        "load 0 bytes, first -1, 1 frames, cluster 0, flags 0",
        f"load {size} bytes, first {first}, 0 frames, cluster 0, flags 0",
        f"Error 22 {policy}: no frames", "attach 1 0 0 1", "Error 22 hipec_attach: Invalid argument",
        "set x 1", "Error 2 hipec_set_param: No such file or directory",
        "Error 2 want a .hpo file or a shipped policy"])
    assert (tmp_path / "data").read_bytes()[:2] == b"za"


MISSING = """
for name in ("none", "no/such", "no/such.hpo", "folder.hpo"):
    try:
        hipec.Container(name, 16)
    except hipec.Error as error:
        print(name, error.filename == name, error.errno, error.strerror)
"""


def test_python_raises_its_own_error_for_a_policy_that_cannot_be_read(root, stub, tmp_path):
    (tmp_path / "folder.hpo").mkdir()
    got = python(root, MISSING, stub, tmp_path)
    assert got.stdout.splitlines() == [
        "none True 2 want a .hpo file or a shipped policy",
        "no/such True 2 want a .hpo file or a shipped policy",
        "no/such.hpo True 2 No such file or directory",
        "folder.hpo True 21 Is a directory"], got.stderr


def test_python_finds_the_policies_of_its_own_prefix(root, stub, tmp_path):
    """Wherever that was moved to, with nothing said of it."""
    shutil.copytree(root / "usr", tmp_path / "moved")
    got = subprocess.run([PYTHON, "-B", "-c", "import hipec; print(hipec.policy_file('mru'))"],
                         text=True, capture_output=True, check=False, cwd=tmp_path, env={
                             "PYTHONPATH": str(tmp_path / "moved/lib/python3/dist-packages"),
                             "LD_LIBRARY_PATH": str(stub)})
    assert got.stdout == f"{tmp_path}/moved/share/hipec/policies/mru.hpo\n", got.stderr


SIM = """
rows = hipec.sim("app.trace", ["lru", "mru", "opt"], frames=["25%", 600])
print([(row["policy"], row["frames"]) for row in rows], rows[-1]["faults"])
print(len(hipec.sim(["app.trace", "app.trace"], options=["--verdict"])), hipec.__version__)
for args in (["none.trace"], ["app.trace", "mruu"], ["app.trace", "lru", "x"]):
    try:
        hipec.sim(*args)
    except hipec.Error as error:
        print(type(error).__name__, error.strerror.splitlines()[0])
"""


def test_python_simulates(root, tmp_path):
    """With the command of its own prefix; what that says is in the Error."""
    (tmp_path / "app.trace").write_text("r 0 1000\n" * 4)
    got = python(root, SIM, f"{root}/usr/lib", tmp_path)
    assert got.stderr == ""
    version = re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]
    assert got.stdout.splitlines() == [
        "[('lru', 250), ('mru', 250), ('opt', 250), ('lru', 600), ('mru', 600), ('opt', 600)] 2200",
        f"16 {version}",
        "Error hipec sim: none.trace: No such file or directory",
        "Error hipec sim: mruu: there is no such policy; did you mean 'mru'?",
        "Error hipec sim: --frames: want frames (4096, 4k), memory (64M, 8G, 512KiB) or a part of the "
        "pages (25%), not 'x'"]


def test_python_s_map_of_no_file_is_an_error(root, stub, tmp_path):
    got = python(root, """
with hipec.Container("mru", frames=16) as c:
    try:
        c.map("none")
    except hipec.Error as error:
        print(error.errno, error.filename)
""", stub, tmp_path)
    assert got.stdout.splitlines()[-1] == "2 none", got.stderr


def test_python_has_type_hints(root, tmp_path):
    """Which mypy accepts, all of them, and which programs see."""
    if not shutil.which("mypy"):
        pytest.skip("no mypy")
    (tmp_path / "use.py").write_text(
        "import hipec\nrows = hipec.sim('t', frames=7)\nreveal_type(rows[0]['faults'])\n"
        "hipec.sim(7)\nhipec.Container(8, 8)\n")
    env = {"MYPYPATH": f"{root}/usr/lib/python3/dist-packages", "PATH": os.environ["PATH"]}
    package = subprocess.run(["mypy", "--strict", "--cache-dir", tmp_path / "cache", "-p", "hipec"],
                             capture_output=True, text=True, check=False, cwd=tmp_path, env=env)
    assert package.returncode == 0, package.stdout
    got = subprocess.run(["mypy", "--cache-dir", tmp_path / "cache", "use.py"], text=True,
                         capture_output=True, check=False, cwd=tmp_path, env=env)
    assert [line.split(":")[1] for line in got.stdout.splitlines() if " error: " in line] == \
        ["4", "5"], got.stdout


def test_python_s_docstrings_say_what_is_raised(root, tmp_path):
    """Of all that is exported and can fail, for help()."""
    got = python(root, """
import inspect
for name in hipec.__all__:
    thing = getattr(hipec, name)
    if callable(thing):
        assert inspect.getdoc(thing), name
for thing in (hipec.Container, hipec.Container.map, hipec.sim, hipec.policy_file):
    assert "Raises Error" in thing.__doc__, thing
print("fine")
""", "/nowhere", tmp_path)
    assert got.stdout == "fine\n", got.stderr


def test_python_as_the_document_has_it(root, stub, tmp_path):
    """numpy over a map."""
    if subprocess.run([PYTHON, "-c", "import numpy"], check=False, capture_output=True).returncode:
        pytest.skip("no python3-numpy")
    (tmp_path / "weights.bin").write_bytes(b"\0\0\x80\x3f" * 2048)
    code = re.search(r"^```python\n(.*?)^```", (ROOT / "docs/user/install.md").read_text(),
                     re.S | re.M)[1]
    got = python(root, code, stub, tmp_path)
    assert got.stdout.splitlines()[-3:] == ["attach 0 0 0 1", "2048.0", "0"], got.stderr


def test_the_document_has_all_parameters():
    """Else run make docs. That this is what the module says: test_packages.py."""
    assert f"\n\n{parameters.table()}\n\n" in (ROOT / "docs/user/install.md").read_text()


def test_packages_have_the_version_of_the_makefile():
    version = re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]
    changes = (ROOT / "packaging/debian/changelog").read_text()
    assert changes.startswith(f"hipec ({version}) ")
