"""The list of planted faults is about the code as it is."""

import pytest

from faults import FAULTS, ROOT, SOURCE


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_the_line_and_the_test_of_every_fault_are_there(fault):
    text = (SOURCE / "fairpatch" / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.line) == 1
    path, _, name = fault.test.partition("[")[0].partition("::")
    assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8")
