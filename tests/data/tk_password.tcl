# A Tk dialog that asks for a password and writes it into a file.
#
# Usage: wish tk_password.tcl FILE

wm title . password
pack [entry .field -show *]
bind .field <Return> {
    set file [open [lindex $argv 0] w]
    puts -nonewline $file [.field get]
    close $file
    exit
}
focus -force .field
