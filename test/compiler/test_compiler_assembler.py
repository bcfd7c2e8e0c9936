# SPDX-License-Identifier: GPL-2.0-only
"""ampc on assembler text: what -S and `hipec dis` print is the same, and makes the
same image."""

import re
import subprocess

import pytest

from conftest import BUILD, ROOT
from test_compiler import OK, POLICIES, built, run  # noqa: F401

pytestmark = [pytest.mark.more, pytest.mark.usefixtures("quick_start")]

HAND = """\
# By hand: no numbers, no words, no lines; labels.
policy by-hand
timer 50 ms
source aaaaaaaa0123456789ABCDEF0123456789ABCDEF0123456789ABCDEFffffffff
needs time, hint,shared    ; more than it has
ghosts 50 %
operands
  00 queue _free_queue
  01 int _free_count
  02 queue q by weight
  03 field weight     ; declared behind what mentions it
  04 queues qs[3]
  05 queueref r = qs[0]
  06 ints history[6], shared
  07 int n = -5, param
  08 int k, counter
  09 page p
  0A page none, const
event 1 PageFault
again: findpa p, FaultedAddress
      enqueue p, q, tail
      jump if, again
      jump always, end
end:  return
event 2 Replace          ; line 70: only this one has lines
      dequeue p, q, head
      enqueue p, _free_queue, tail   ; line 72
      call Own
      return
event 5 Timer
      return
event 16 Own
      arith n, -, inc
      return
"""


@pytest.mark.parametrize("path", [*OK, *POLICIES], ids=lambda p: p.stem)
def test_text_makes_the_same_image_byte_for_byte(path, tmp_path):
    hpo, again, listing = tmp_path / "x.hpo", tmp_path / "y.hpo", tmp_path / f"{path.stem}.hps"
    assert run("-o", hpo, path).returncode == 0
    listing.write_text(run("-S", path).stdout)
    result = run("-o", again, listing)
    assert (result.returncode, result.stderr) == (0, "")
    assert again.read_bytes() == hpo.read_bytes()
    dis = subprocess.run([BUILD / "hipec", "dis", hpo], capture_output=True, text=True, check=True)
    listing.write_text(dis.stdout)
    again.unlink()
    assert run("-o", again, listing).returncode == 0
    assert again.read_bytes() == hpo.read_bytes()


def told(text):
    """What a listing says: header lines, operands, events and commands with their lines.

    -S leaves a value of 0 out, and a command's line where it is that of the one before."""
    head, operands, code, source_line = [], [], [], None
    for line in filter(str.strip, text.splitlines()):
        said, _, from_line = line.partition("; line ") if "; line " in line else \
            re.fullmatch(r"(.*?)(?:  (line )(\d+))?", line).groups("")
        source_line = from_line.split(":")[0] or source_line
        words = said.split()
        if words[0] == "event":
            code.append((*words, source_line))
        elif code:
            assert len(words) > 5 and re.fullmatch(r"[0-9A-F]{8}", "".join(words[1:5])), line
            code.append((*words, source_line))
        elif re.match(r" +[0-9A-F]{2}  ", line):
            operands.append(re.sub(r" = 0(?=,|$)", "", " ".join(words)))
        else:
            head.append(" ".join(words))
    return head, operands, code


@pytest.mark.parametrize("path", [*OK, *POLICIES], ids=lambda p: p.stem)
def test_dis_says_what_the_listing_says(path, tmp_path):
    listing = run("-S", "-o", tmp_path / "x.hpo", path).stdout
    dis = subprocess.run([BUILD / "hipec", "dis", tmp_path / "x.hpo"], capture_output=True,
                         text=True, check=True).stdout
    head, operands, code = told(listing)
    assert told(dis) == (head, operands, code)
    assert head[1].startswith("source ") and head[-1] == "operands"
    assert len(operands) >= 2 and len(code) >= 4


def test_text_by_hand_says_all_that_an_image_can_hold(tmp_path):
    source = tmp_path / "file.hps"
    source.write_text(HAND)
    assert run(source, cwd=tmp_path).returncode == 0
    dis = subprocess.run([BUILD / "hipec", "dis", tmp_path / "file.hpo"], capture_output=True,
                         text=True, check=True).stdout
    first = source.read_text().split("\n").index("event 1 PageFault") + 1
    assert [" ".join(line.split()) for line in dis.splitlines()] == [
        "policy by-hand", "source aaaaaaaa0123456789abcdef0123456789abcdef0123456789abcdefffffffff",
        "needs hint, time, shared", "ghosts 50 %", "timer 50 ms", "operands",
        "00 queue _free_queue", "01 int _free_count", "02 queue q by weight", "03 field weight",
        "04 queues qs[3]", "05 queueref r = qs[0]", "06 ints history[6], shared",
        "07 int n = -5, param", "08 int k = 0, counter", "09 page p", "0A page none, const",
        f"event 1 PageFault line {first}",
        f"1 10 09 F0 00 findpa p, FaultedAddress line {first + 1}",
        f"2 08 09 02 02 enqueue p, q, tail line {first + 2}",
        f"3 06 01 00 01 jump if, 1 line {first + 3}",
        f"4 06 00 00 05 jump always, 5 line {first + 4}",
        f"5 00 00 00 00 return line {first + 5}",
        "event 2 Replace line 70",
        "1 07 09 02 01 dequeue p, q, head line 70",
        "2 08 09 00 02 enqueue p, _free_queue, tail line 72",
        "3 13 10 00 00 call Own line 72", "4 00 00 00 00 return line 72",
        f"event 5 Timer line {first + 11}", f"1 00 00 00 00 return line {first + 12}",
        f"event 16 Own line {first + 13}", f"1 01 07 00 05 arith n, -, inc line {first + 14}",
        f"2 00 00 00 00 return line {first + 15}"]
    listing = tmp_path / "again.hps"
    listing.write_text(run("-S", source).stdout)
    assert run("-o", tmp_path / "again.hpo", listing).returncode == 0
    again = (tmp_path / "again.hpo").read_bytes()
    assert again == (tmp_path / "file.hpo").read_bytes()


def test_text_without_source_and_needs_has_none_and_what_it_uses(tmp_path):
    source = tmp_path / "file.hps"
    source.write_text("".join(line + "\n" for line in HAND.split("\n")
                              if not line.startswith(("source", "needs"))))
    listing = run("-S", source).stdout.split("\n")
    assert listing[:4] == ["policy by-hand", "needs time, shared", "ghosts 50 %", "timer 50 ms"]


def test_a_policy_without_a_name_is_named_after_its_file(tmp_path):
    source = tmp_path / "nameless.hps"
    text = run("-S", ROOT / "policies" / "mru.hp").stdout
    source.write_text(text.replace("policy mru\n", ""))
    assert run(source, cwd=tmp_path).returncode == 0
    assert (tmp_path / "nameless.hpo").read_bytes()[48:57] == b"nameless\0"


def test_costs_and_listings_are_those_of_the_text(tmp_path):
    source = tmp_path / "mru.hps"
    source.write_text(run("-S", ROOT / "policies" / "mru.hp").stdout)
    cost = run("--explain-cost", source)
    assert cost.stdout == run("--explain-cost", ROOT / "policies" / "mru.hp").stdout
    assert not (tmp_path / "mru.hpo").exists()
