# SPDX-License-Identifier: BSD-3-Clause
"""The bytes in doc/format-database.md are those of the example."""
import os
import re
import subprocess
import sys

database = os.environ["HQ_TEST_TMP"] + "/paper.hq"
subprocess.run([os.environ["BUILD"] + "/tools/fixture", "tests/query/paper.fixture", database], check=True)
with open(database + "/hq.db", "rb") as file:
    data = file.read()
with open("doc/format-database.md") as file:
    lines = re.findall(r"^    ([0-9a-f]{8}): ((?:[0-9a-f]{2} ){16})", file.read(), re.M)
wrong = [offset for offset, text in lines if data[int(offset, 16):int(offset, 16) + 16] != bytes.fromhex(text)]
for offset in wrong:
    print(f"the line at {offset} should read {data[int(offset, 16):int(offset, 16) + 16].hex(' ')}")
print(f"{len(lines) - len(wrong)} passed, {len(wrong)} failed")
sys.exit(bool(wrong) or len(lines) < 8)
