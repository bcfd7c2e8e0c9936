# SPDX-License-Identifier: GPL-2.0-only
"""The programs of the paper, as printed but for what is mended here, in words: they
compile at both levels, with the paper's numbers, and do what it says.

Source: hipec-1997, Figures 3 and 9."""

import re
import subprocess

import pytest

from conftest import ROOT
from test_compiler import HPT, built, commands, operands, policy, run  # noqa: F401

FIGURE_3 = """
Event Init(){
  *Queue   active_queue; /* The _free_queue and _free_count*/
  Int active_count;      /* are default assigned to the */
  *Queue   inactive_queue; /* operand[0] and operand[1]. */
  Int inactive_count;    /* Application does not to declar */
  Int reserver_free_target=1; /* them. */
  Int free_target;
  Int inactive_target;
  *Page    page;
}
Event PageFault()
{
  page = FindPA(FaultedAddress);
  _free_count--;
  EnQueue(page, active_queue, TAIL);
  active_count++;
}
Event Replace()
{
  For(;;){
    inactive_target = (active_target + inactive_target) * 2/3;
    while(inactive_count < inactive_target)
    {
      page = DeQueue(active_queue, HEAD);
      active_count--;
      Set(page, REFERENCE, RESET);
      EnQueue(page, inactive_queue, TAIL);
      inactive_count++;
    }
    if(_free_count < free_target){
      page=DeQueue(inactive_queue, HEAD);
      inactive_count--;
      if(Ref(page))
      {
        EnQueue(page, active_queue, TAIL);
        active_count++;
      }else{
        if(Mod(page))
          Flush(page);
        EnQueue(page, _free_queue, HEAD);
        _free_count++;
      }
    }else
      break;
  }
}
"""
MENDED_3 = [
    ("reserver_free_target", "reserve_free_target"),        # misspelled
    ("(active_target + inactive_target)", "(active_count + inactive_count)"),   # as its listing has it
    ("Int free_target;", "param Int free_target = 1;"),     # the application sets it
]

FIGURE_9 = """
PageFault(){
    page = FindPA ( FaultedAddress );
    if ( EmptyQ( IndexLevel ) );
        CreateQ ( IndexLevel );
    Set ( page, IndexLevel, TAIL );
    EnQueue ( page, IndexLevel, TAIL );
}
Replace(){
    Indicator = 25 ;
NextLevel:
    if ( EmptyQ (Indicator) ) {
        Indicator = Indicator - 1 ;
        goto NextLevel;
    } else do {
        page = DeQueue ( Indicator, HEAD );
        if ( Ref (page) ) {
            Set (page, REFERENCE, RESET);
            EnQueue( Indicator, TAIL );
        } else if ( Mod(page) ) {
            Flush ( page );
        }
        Release ( page );
        return ;
    } while (TRUE);
}
"""
MENDED_9 = [
    # Its Init is not printed. What the application gives is the page's number here.
    ("PageFault(){", "Event Init(){ Queue level[26]; shared Int given[16]; Int Indicator, IndexLevel;\n"
                     "Field Level; Page page; }\nEvent PageFault(){\nIndexLevel = given[FaultedAddress >> 12] - 100;"),
    ("Replace(){", "Event Replace(){"),
    ("if ( EmptyQ( IndexLevel ) );\n        CreateQ ( IndexLevel );", ""),     # declaring makes it
    ("Set ( page, IndexLevel, TAIL )", "page.Level = IndexLevel"),              # recording it
    ("( page, IndexLevel, TAIL )", "( page, level[IndexLevel], TAIL )"),        # queues by level
    ("EmptyQ (Indicator)", "EmptyQ (level[Indicator])"),
    ("DeQueue ( Indicator, HEAD )", "DeQueue ( level[Indicator], HEAD )"),
    ("EnQueue( Indicator, TAIL );", "EnQueue( page, level[Indicator], TAIL ); continue;"),  # a second chance
]
LEVELS = ["-O0", "-O1"]


def mended(figure, changes):
    for printed, meant in changes:
        assert figure.count(printed) == 1, printed
        figure = figure.replace(printed, meant)
    return figure


def compiled(text, level):
    result = run(level, "-Wno-victim-released", "-S", "-", source=text)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def tokens(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return re.findall(r"\w+|[-+=&|<>]{2}|\S", text)


def result(tmp_path, listing, *lines):
    case = tmp_path / "figure.hpt"
    case.write_text("\n".join([*policy(listing), *lines]) + "\n")
    done = subprocess.run([HPT, case], capture_output=True, text=True, check=False)
    assert done.stdout == "ok figure\n", done.stdout + done.stderr


def test_the_shipped_policy_is_figure_3():
    """policies/fifo2.hp, token for token, but for a check and an event more."""
    shipped = re.sub(r"^//.*\n", "", (ROOT / "policies" / "fifo2.hp").read_text(), flags=re.M)
    figure, remove = shipped.split("/* Not in the figure. */")
    taken = "page=DeQueue(inactive_queue, HEAD)"
    want = mended(FIGURE_3, MENDED_3)
    assert want.count(taken) == 1
    assert tokens(figure) == tokens(want.replace(f"{taken};", f"if (!({taken})) break;"))
    assert len(tokens(figure)) > 150
    assert remove.count("Event ") == 1


@pytest.mark.parametrize("level", LEVELS)
def test_figure_3_has_the_papers_operand_numbers(level):
    slots = {name: row[0] for name, row in operands(compiled(mended(FIGURE_3, MENDED_3), level)).items()}
    assert list(slots)[:10] == [
        "_free_queue", "_free_count", "active_queue", "active_count", "inactive_queue", "inactive_count",
        "reserve_free_target", "free_target", "inactive_target", "page"]
    assert list(slots.values()) == list(range(13))      # and 0A a temporary, 0B and 0C constants
    assert list(slots)[10:] == [".t0", "2", "3"]


def test_figure_3_has_at_most_30_commands_in_replace():
    """The paper's listing has 28, and forgets to clear its temporary; and no Return."""
    sizes = {level: {name: len(code) for name, code in
                     commands(compiled(mended(FIGURE_3, MENDED_3), level)).items()} for level in LEVELS}
    assert sizes == {"-O0": {"PageFault": 5, "Replace": 31}, "-O1": {"PageFault": 5, "Replace": 29}}


@pytest.mark.parametrize("level", LEVELS)
def test_figure_3_gives_second_chances(level, tmp_path):
    """Four faults, and two pages on the inactive queue that the counts know nothing of:
    the first was used there and goes back, the second was not and goes, cleaned."""
    result(tmp_path, compiled(mended(FIGURE_3, MENDED_3), level),
           "-- pages", "10 inactive_queue ref", "11 inactive_queue mod", "-- set", "table 6",
           "-- run fault 1 PageFault fault 2 PageFault fault 3 PageFault fault 4 PageFault Replace",
           "-- result ok", "-- given up", "11 kept",
           "-- queues", "active_queue 10", "inactive_queue 1 2 3 4", "fallback",
           "-- ints", "active_count 1", "inactive_count 2", "inactive_target 2", "_free_count 1")


@pytest.mark.parametrize("level", LEVELS)
def test_figure_9_gives_up_the_deepest_level_first(level, tmp_path):
    """Pages of the levels 3, 1 and 7, and three more on the queue of level 7: the two that
    were referenced go behind the others, one of them written back before."""
    result(tmp_path, compiled(mended(FIGURE_9, MENDED_9), level),
           "-- pages", "20 level[7] ref", "21 level[7] ref mod", "22 level[7]",
           "-- set", "table 8",
           "-- run fault 3 PageFault fault 1 PageFault fault 7 PageFault"
           " Replace Replace Replace Replace Replace",
           "-- result ok", "-- ints", "Indicator 3",
           "-- queues", "level[1] 1", "level[3]", "level[7]", "fallback",
           "-- given up", "22 released", "7 released", "20 released", "21 released", "3 released",
           "-- fields", "Level 1 1")


def test_figure_9_as_printed_has_no_end_where_no_page_is(tmp_path):
    """Its search for a level goes on below 0; policies/mpfifo2.hp ends there."""
    result(tmp_path, compiled(mended(FIGURE_9, MENDED_9), "-O1"),
           "-- run Replace", "-- result", "exit INDEX Replace+2 operand c", "-- ints", "Indicator -1")
