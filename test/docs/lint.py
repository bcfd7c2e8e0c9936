# SPDX-License-Identifier: GPL-2.0-only
"""For pytest in `make lint`: a test that fails says its rule, and which files break it.

The rule is the test's name and its docstring; the files are what the assertion found.
"""

import inspect

import pytest


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if report.failed and call.excinfo:
        rule = item.originalname.removeprefix("test_").replace("_", " ")
        said = " ".join((inspect.getdoc(item.function) or "").split())
        report.longrepr = f"rule: {rule}. {said}\n{item.nodeid}\n{call.excinfo.value}\n"
