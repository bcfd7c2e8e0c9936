# SPDX-License-Identifier: GPL-2.0-only
"""The KUnit suites of module/tests: the portable ones in user space under ASan and
UBSan; all of them on the debug kernel, in a boot of their own. Debian's kernels have
no KUnit."""

import re
import subprocess

import pytest

import ktap
from conftest import BUILD, KUNIT_KERNELS, ROOT, guest_image, guest_tree, need, vm

# A suite that includes this needs the module, and the page tables of x86.
NEEDS_MODULE = '#include "../internal.h"'


def kunit_cases(portable=False):
    """(suite, case) of all suites, from their sources: what a log leaves out
    counts as failed."""
    found = []
    for path in sorted((ROOT / "module/tests").glob("*_kunit.c")):
        text = path.read_text()
        if portable and NEEDS_MODULE in text:
            continue
        suite = re.search(r'\.name = "(\w+)"', text)[1]
        found += [f"{suite}.{name}" for name in re.findall(r"\tKUNIT_CASE\((\w+)\)", text)]
    return found


def check_case(cases, name):
    """Assert that the log told of the case once, and well."""
    told = [case for case in cases if f"{case.suite}.{case.name}" == name]
    assert len(told) == 1, f"the log tells of it {len(told)} times"
    if told[0].outcome == "skipped":
        pytest.skip(told[0].text)
    assert told[0].outcome == "passed", told[0].text


def check_whole(cases, known):
    """Assert that the log has nothing that failed and that no source knows of."""
    assert cases
    assert [case for case in cases if f"{case.suite}.{case.name}" not in known] == []


@pytest.fixture(scope="session")
def user_space():
    """What the suites print in user space; its end is where it crashed."""
    subprocess.run(["make", "-s", "-C", ROOT, "build/asan/kunit"], check=True)
    run = subprocess.run([BUILD / "asan/kunit"], capture_output=True, text=True, check=False)
    return run.returncode, ktap.read(run.stdout), run.stderr


@pytest.mark.parametrize("case", kunit_cases(portable=True))
def test_in_user_space(user_space, case):
    """One case under ASan and UBSan."""
    check_case(user_space[1], case)


def test_user_space_says_nothing_else(user_space):
    """No sanitizer reports, and every document is whole."""
    status, cases, complaint = user_space
    assert complaint == ""
    check_whole(cases, kunit_cases(portable=True))
    assert status == 0


@pytest.fixture(scope="session", params=KUNIT_KERNELS)
def suites(request, tmp_path_factory):
    """One boot of a kernel of our own: a Result of run.py."""
    kernel = request.param
    need(kernel)
    tmp = tmp_path_factory.mktemp(f"suites-{kernel}")
    return vm.boot(kernel, guest_image(tmp, kernel, guest_tree(tmp), programs=False),
                   BUILD / f"suites-{kernel}",
                   ["sh", "-c", "sh /hipec/kunit.sh && sh /hipec/last.sh"])


@pytest.mark.kunit
def test_kernel_has_nothing_to_complain_about(suites):
    """No oops, warning, lockdep report; and the run came to its end."""
    assert (suites.verdict, suites.status) == ("ok", 0), suites.output


@pytest.mark.kunit
@pytest.mark.parametrize("case", kunit_cases(), ids=str)
def test_kunit(suites, case):
    """One case, with page tables and two CPUs."""
    check_case(ktap.read(suites.console), case)


@pytest.mark.kunit
def test_nothing_else_failed_in_the_log(suites):
    """No KTAP document is torn, and none tells of a case that no source has."""
    check_whole(ktap.read(suites.console), kunit_cases())


@pytest.mark.kunit
def test_no_memory_is_lost(suites):
    """When the suites are gone, all that they had allocated is free."""
    assert (suites.results / "kmemleak.txt").read_text() == ""
