"""A program of another user of this machine, which opens a page."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose program is at the other end")
root = pytest.mark.skipif(
    sys.platform == "linux" and os.getuid() != 0, reason="becoming another user needs root: run the tests as root"
)

ASK = """
import encodings.idna, os, sys, urllib.request, urllib.error  # all of it now: the other user may not read our Python
os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    answer = urllib.request.urlopen(sys.argv[1], timeout=10)
except urllib.error.HTTPError as error:
    answer = error
print(answer.status, sys.argv[2] in answer.read().decode())
"""


async def another_user(code: str, *arguments: str) -> str:
    """What this program prints after it became another user."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", code, *arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    out, problem = await asyncio.wait_for(process.communicate(), 20)
    assert process.returncode == 0, problem.decode()
    return out.decode().strip()
