#!/bin/sh
# The desktop's terminal; arguments go to xterm, such as -e COMMAND.
export XAUTHORITY='@FOLDER@/run/display/Xauthority'
# Its shell finds the scripts of commands, not this one.
export PATH="${PATH#'@PROGRAMS@:'}"
# A program that asks for the text on the screen (CSI i) finds it in a file.
PRINT='cat > "$XDG_RUNTIME_DIR/.text" && mv "$XDG_RUNTIME_DIR/.text" "$XDG_RUNTIME_DIR/terminal-text"'
exec xterm -u8 -fa 'DejaVu Sans Mono' -fs 11 -geometry 112x34 -title Terminal \
    -bg '#101820' -fg '#dde3ea' -cr '#7dd3fc' -b 8 -sl 5000 +sb \
    -xrm '*printAttributes: 0' -xrm "*printerCommand: $PRINT" \
    -xrm '*metaSendsEscape: true' -xrm '*bellIsUrgent: false' \
    "$@"
