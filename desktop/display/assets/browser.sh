#!/bin/sh
# The desktop's browser: a profile of its own, without questions and without reports to its maker.

refusal=@REFUSAL@
if [ -n "$refusal" ]; then
    printf 'browser: not started: %s\n' "$refusal" >&2
    exit 126
fi

export XAUTHORITY='@AUTHORITY@'
[ -z '@DISPLAY@' ] || export DISPLAY='@DISPLAY@'
# Its children find the scripts of commands, not this one.
export PATH="${PATH#'@PROGRAMS@:'}"

profile='@FOLDER@/browser'
if [ ! -e "$profile/Default/Preferences" ]; then
    mkdir -p "$profile/Default" && cp '@FOLDER@/share/preferences.json' "$profile/Default/Preferences"
elif [ ! -L "$profile/SingletonLock" ]; then
    # A profile that was kept names the directories of an earlier desktop.
    sed -i -e 's|"default_directory":"[^"]*"|"default_directory":"@DOWNLOADS@"|g' \
        -e 's|"last_directory":"[^"]*"|"last_directory":"@HOME@"|g' "$profile/Default/Preferences"
fi

# Chromium binds a socket some 50 characters below TMPDIR, and a socket's path has 107 at most.
[ ${#TMPDIR} -le 55 ] || export TMPDIR=/tmp

# Pages report which of their fields has the keyboard, so that no password is noted; of all else
# only to clients that have asked for a tree, since that costs time.
export ACCESSIBILITY_ENABLED=1
fields=form-controls
[ ! -e '@FOLDER@/share/accessibility' ] || fields=complete
set -- --force-renderer-accessibility=$fields "$@"

# The service has the other ends of descriptors 3 and 4. Without the second switch pages would see
# in navigator.webdriver that there is a pipe.
if [ -n "$DESKHAND_BROWSER_PIPE" ]; then
    unset DESKHAND_BROWSER_PIPE
    set -- --remote-debugging-pipe --disable-blink-features=AutomationControlled "$@"
fi

# The address bar has a popup of widgets and one of two web pages; these take half of the CPU time of
# a start and 50 MB.
features=Translate,MediaRouter,OptimizationHints,AutofillServerCommunication
features=$features,WebUIOmniboxPopup,WebUIOmniboxAimPopup

exec @BROWSER@ \
    --user-data-dir="$profile" \
    --no-first-run --no-default-browser-check --disable-default-apps \
    --disable-search-engine-choice-screen \
    --disable-sync --password-store=basic \
    --disable-background-networking --disable-component-update --disable-domain-reliability \
    --disable-breakpad --metrics-recording-only --no-pings \
    --hide-crash-restore-bubble --disable-session-crashed-bubble --noerrdialogs \
    --disable-features="$features" \
    --disable-gpu --start-maximized @SANDBOX@ "$@"
