# SPDX-License-Identifier: GPL-2.0-only
"""Fixtures: where things are, and the guests."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
VERSION = re.search(r"^VERSION := (.*)", (ROOT / "Makefile").read_text(), re.M)[1]
sys.path.insert(0, str(ROOT / "vm-images"))

import run as vm  # noqa: E402  (vm-images/run.py)

# Stock kernels. The core of what is promised is shown on all of them, on the second in ring vm. The
# rest is shown on the first one; that it is so on the second as well is for the night.
KERNELS = ["6.12", "6.1"]
CORE_KERNELS = [KERNELS[0], pytest.param(KERNELS[1], marks=pytest.mark.guest)]
NIGHT_ON_SECOND = [KERNELS[0], pytest.param(KERNELS[1], marks=pytest.mark.night)]

# Kernels of our own.
KUNIT_KERNELS = ["debug"]


def limit(kernel):
    """Seconds after which a guest of @kernel hangs, for vm.boot(), which gives a slower kernel
    more. Guests run side by side, and a machine may be slow for a while."""
    return 450 if kernel in KUNIT_KERNELS else 2700


# Of the kernel's modules, those of file systems that tests mount.
FILE_SYSTEMS = ["xfs", "btrfs", "overlay", "vfat", "nls_cp437", "nls_ascii"]

# What has the longest boots begins first, so that no process waits for another at the end.
LONGEST = ["test_guest", "test_run_guest", "test_packages", "test_packages_guest",
           "test_decisions", "test_around", "test_core", "test_counts", "test_amp_guest",
           "test_random", "test_place"]

PACKAGES = ["hipec-dkms", "hipec-tools", "libhipec0", "libhipec-dev", "python3-hipec"]


def chapter(page, heading):
    """A chapter of a document, its headings as those of a document of its own."""
    text = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", (ROOT / page).read_text(),
                     re.M | re.S)[1]
    return f"# {heading}\n" + re.sub("^###", "##", text, flags=re.M)


def without(page, *headings):
    """A document but for these chapters."""
    text = (ROOT / page).read_text()
    for heading in headings:
        before, rest = text.split(f"\n## {heading}\n")
        text = before + "\n" + re.sub(r"\A.*?(?=^## |\Z)", "", rest, flags=re.M | re.S)
    return text


@pytest.fixture
def quick_start(monkeypatch):
    """No search for leaks: a sanitized program starts and ends in two thirds of the time.
    For tests that start thousands; each path is searched for leaks by others."""
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")


def schema(name):
    """build/schemas/NAME.json"""
    return json.loads((BUILD / f"schemas/{name}.json").read_text())


def valid(name, document):
    """@document, if it is as its schema says."""
    import jsonschema
    jsonschema.Draft202012Validator(schema(name)).validate(document)
    return document


def need(kernel):
    """Skip unless the kernel is in the cache."""
    if not (vm.cache_dir() / "kernels" / kernel / "release").exists():
        pytest.skip(f"this Debian has no kernel {kernel}")


def modules(kernel):
    """Modules that were built for @kernel, all of them."""
    if kernel in KUNIT_KERNELS:
        return sorted((BUILD / f"kunit-{kernel}").glob("*.ko"))
    return [BUILD / f"kmod-{kernel}/hipec.ko", BUILD / f"vmtest-{kernel}/hipec_vmtest.ko"]


def guest_image(tmp, kernel, tree, programs=True):
    """An initramfs for @kernel with the modules, the tools and @tree."""
    image = tmp / f"guest-{kernel}.img"
    command = [ROOT / "vm-images/initramfs.sh", "--kernel", kernel, "--out", image,
               "--tree", tree]
    for module in modules(kernel):
        command += ["--module", module]
    for name in FILE_SYSTEMS if programs and kernel not in KUNIT_KERNELS else []:
        command += ["--stock", name]
    for name in ["mkfs.xfs", "mkfs.btrfs"] if programs else []:
        command += ["--bin", pathlib.Path("/usr/sbin") / name]
    for name in ["guest/hipec-guest-test", "static/hpt", "static/differ", "static/hostile-client",
                 "static/hipec-stress", "static/hipec-place-stress", "static/hipec-crowd",
                 "static/hipec",
                 "libhipectrace.so", "guest/touches-frames", "guest/touches-scan",
                 "bench/paper/join", "bench/paper/sweep", "bench/lib/mkdata", "bench/paper/rdr", "bench/paper/smpeg",
                 "bench/paper/dbg"] if programs else []:
        command += ["--bin", BUILD / name]
    subprocess.run(command, check=True)
    return image


def guest_tree(tmp):
    """What every guest takes along in /hipec."""
    tree = tmp / "tree"
    where = tree / "hipec"
    (where / "policies").mkdir(parents=True)
    for hpo in [*(BUILD / "policies").glob("*.hpo"), *(BUILD / "guest/policies").glob("*.hpo")]:
        shutil.copy(hpo, where / "policies")
    for script in (ROOT / "test/guest").glob("*.sh"):
        shutil.copy(script, where)
    shutil.copytree(ROOT / "test/vm/cases", where / "vm")
    return tree


@pytest.fixture(scope="session", params=NIGHT_ON_SECOND)
def kernel(request):
    """The key of a kernel that can be booted here: a stock one, unless ON_ALL or
    ON_DEBUG says otherwise."""
    need(request.param)
    return request.param


DEBUG = [pytest.param(name, marks=pytest.mark.debug) for name in KUNIT_KERNELS]
NIGHT_DEBUG = [pytest.param(name, marks=pytest.mark.night) for name in KUNIT_KERNELS]
ON_ALL = pytest.mark.parametrize("kernel", [*NIGHT_ON_SECOND, *DEBUG], indirect=True)
ON_DEBUG = pytest.mark.parametrize("kernel", DEBUG, indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Tests that look at one boot, or share the packages, are not spread over processes."""
    # In a process of xdist, which calls --dist loadgroup so.
    if not config.getoption("loadgroup", False):
        return
    items.sort(key=lambda item: LONGEST.index(item.path.stem) if item.path.stem in LONGEST
               else len(LONGEST))
    for item in items:
        params = item.callspec.params.values() if hasattr(item, "callspec") else ()
        kernels = [value for value in params if value in KERNELS + KUNIT_KERNELS]
        own = item.get_closest_marker("boot")
        group = "debs" if "debs" in item.fixturenames else \
            "-".join([item.path.stem, *kernels[:1], *filter(None, own.args if own else ())])
        item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def boots():
    """{kernel: its one boot}, whatever order the tests come in."""
    return {}


def preloaded(where, source):
    """A library for LD_PRELOAD, of one file of C."""
    path = where / "standin.so"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", path, ROOT / source],
                   check=True)
    return path


def need_tools(*names):
    """Skip unless all of them are here, and who runs this is root."""
    for name in names:
        if not shutil.which(name):
            pytest.skip(f"no {name}; vm-images/packages.sh --deb installs it")
    if os.getuid():
        pytest.skip("only root can make a clean root to install packages in")


@pytest.fixture(scope="session")
def debs():
    """{package: its file}, built anew."""
    need_tools("dpkg-buildpackage", "dh_dkms", "dh_python3", "mmdebstrap")
    subprocess.run(["make", "-s", "-C", ROOT, "deb-run"], check=True, capture_output=True)
    found = {path.name.split("_")[0]: path for path in (BUILD / "deb").glob("*.deb")}
    assert sorted(found) == sorted(PACKAGES)
    return found
