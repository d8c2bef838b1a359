"""The package itself: what is public, how it is imported."""

import subprocess
import sys

import pytest

import fairpatch


def test_public_names_are_all_there():
    for name in fairpatch.__all__:
        assert getattr(fairpatch, name) is not None
    assert set(dir(fairpatch)) == set(fairpatch.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = fairpatch.nothing


def test_import_and_audit_never_import_torch():
    code = "import sys, fairpatch; fairpatch.audit; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_it_is_instant():
    code = "import time; a = time.perf_counter(); import fairpatch; print(time.perf_counter() - a)"
    command = [sys.executable, "-c", code]
    times = [
        float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        for _ in range(3)
    ]
    assert min(times) < 0.3


def test_a_missing_extra_says_what_to_install():
    from fairpatch._extras import need

    with pytest.raises(ImportError, match=r"pip install 'fairpatch\[datasets\]'"):
        need("no_such_package.module", extra="datasets")
