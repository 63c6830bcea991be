"""How the forms look: in the terminal's own colours, so that they fit a dark one and a light one."""

from __future__ import annotations

from typing import Final

from textual.theme import Theme

__all__ = ["CSS", "THEME"]

THEME: Final = Theme(
    name="midcall",
    ansi=True,
    primary="ansi_cyan",
    secondary="ansi_cyan",
    accent="ansi_cyan",
    warning="ansi_yellow",
    error="ansi_red",
    success="ansi_green",
    foreground="ansi_default",
    background="ansi_default",
    surface="ansi_default",
    panel="ansi_default",
    boost="ansi_default",
    variables={
        "ansi-background": "ansi_default",
        "ansi-foreground": "ansi_default",
        "border": "ansi_cyan",
        "border-blurred": "ansi_bright_black",
        "scrollbar": "ansi_bright_black",
        "scrollbar-hover": "ansi_cyan",
        "scrollbar-active": "ansi_cyan",
        "scrollbar-background": "ansi_default",
        "scrollbar-background-hover": "ansi_default",
        "scrollbar-background-active": "ansi_default",
        "scrollbar-corner-color": "ansi_default",
        "screen-selection-background": "ansi_cyan",
        "screen-selection-foreground": "ansi_black",
        "input-selection-background": "ansi_cyan",
        "input-selection-foreground": "ansi_black",
    },
)

CSS: Final = """
Screen {
    overflow-x: hidden;
    overflow-y: auto;
    scrollbar-size-vertical: 1;
    padding: 0 1;
    &:inline { height: auto; max-height: 100vh; border: none; }
}
#head { dock: top; height: 1; color: ansi_cyan; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }
#message {
    height: auto; max-height: 40vh; margin: 1 0; padding: 0 1; scrollbar-size-vertical: 1;
    border-left: outer ansi_bright_black;
    &:focus { border-left: outer ansi_cyan; }
    Static { width: 1fr; height: auto; }
}
#notice { display: none; color: ansi_yellow; height: auto; padding: 0 1; }
#bar {
    dock: bottom; height: auto; padding: 0 1;
    border-top: solid ansi_bright_black;
}
#acts { height: 1; overflow: hidden; }
.act {
    width: auto; height: 1; padding: 0 1; margin-right: 1;
    &:hover { text-style: underline; }
    &:focus { text-style: reverse bold; }
}
#send, #next, #yes, #open, #agree, #again { color: ansi_green; text-style: bold; &:focus { text-style: reverse bold; } }
#decline { color: ansi_red; }
.advice, .state { text-style: dim; height: auto; padding: 0 1; }
.legend { width: 1fr; height: 1; text-align: right; text-style: dim; text-wrap: nowrap; text-overflow: ellipsis; }
.advice { margin-bottom: 1; }
.field {
    height: auto; padding: 0 1;
    border-left: blank;
    &:focus-within { border-left: outer ansi_cyan; }
    &.-wrong { border-left: outer ansi_red; }
    .label { height: auto; }
    &:focus-within .label { color: ansi_cyan; }
    .note { height: 1; text-style: dim; }
    &.-wrong .note { color: ansi_red; text-style: none; height: auto; }
}
Input, Input.-textual-compact, Input:focus {
    width: 1fr; max-width: 72; height: 1; border: none; padding: 0; text-style: underline;
    background: ansi_default; background-tint: ansi_default;
    & > .input--cursor { background: ansi_default; color: ansi_default; text-style: reverse; }
    & > .input--placeholder { color: ansi_default; text-style: dim; }
}
YesNo { height: 1; width: 1fr; &:focus { text-style: none; } }
Finder { height: auto; }
OptionList, OptionList:focus {
    height: auto; max-height: 8; padding: 0; border: none; scrollbar-size-vertical: 1;
    background: ansi_default; background-tint: ansi_default;
    & > .option-list--option { padding: 0; }
    & > .option-list--option-hover { background: ansi_default; text-style: underline; }
    & > .option-list--option-highlighted { background: ansi_default; color: ansi_default; text-style: none; }
}
OptionList:focus > .option-list--option-highlighted {
    background: ansi_default; color: ansi_cyan; text-style: underline;
}
#review { max-height: 100vh; padding: 0 1; }
#address { height: auto; padding: 0 1; margin-bottom: 1; border-left: outer ansi_bright_black; text-wrap: wrap; }
.site { height: auto; padding: 0 1; margin-bottom: 1; text-style: bold; }
.doubt { color: ansi_yellow; height: auto; padding: 0 1; margin-bottom: 1; }
#visits { height: auto; padding: 0 1; margin: 1 0; }
"""
