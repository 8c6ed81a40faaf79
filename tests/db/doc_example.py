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

# `info` tells how large the sections are together: all of the file but its header, the section table and what aligns them.
info = subprocess.run([os.environ["HQ"], database, "info"], capture_output=True, text=True).stdout
size = re.search(r"^size +([0-9.]+) KiB$", info, re.M)
sections = len(data) - 64 - 48 * int.from_bytes(data[12:16], "little")
if not size or not sections - 25 * 16 - 11 < float(size.group(1)) * 1024 <= sections + 11:
    wrong.append(f"info does not tell that the sections have {sections} bytes: {size}")
    print(wrong[-1])
print(f"{len(lines) + 1 - len(wrong)} passed, {len(wrong)} failed")
sys.exit(bool(wrong) or len(lines) < 8)
