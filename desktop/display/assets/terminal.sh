#!/bin/sh
# The desktop's terminal; arguments go to xterm, such as -e COMMAND.
export XAUTHORITY='@FOLDER@/run/display/Xauthority'
# Its shell finds the scripts of commands, not this one.
export PATH="${PATH#'@PROGRAMS@:'}"
exec xterm -u8 -fa 'DejaVu Sans Mono' -fs 11 -geometry 112x34 -title Terminal \
    -bg '#101820' -fg '#dde3ea' -cr '#7dd3fc' -b 8 -sl 5000 +sb \
    -xrm '*metaSendsEscape: true' -xrm '*selectToClipboard: true' -xrm '*bellIsUrgent: false' \
    "$@"
