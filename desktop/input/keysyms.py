"""Names and values of keysyms, from keysymdef.h and XF86keysym.h."""

_FUNCTION = """
BackSpace=ff08 Tab=ff09 Linefeed=ff0a Clear=ff0b Return=ff0d Pause=ff13 Scroll_Lock=ff14
Sys_Req=ff15 Escape=ff1b Delete=ffff Multi_key=ff20 Codeinput=ff37 SingleCandidate=ff3c
MultipleCandidate=ff3d PreviousCandidate=ff3e Home=ff50 Left=ff51 Up=ff52 Right=ff53 Down=ff54
Prior=ff55 Page_Up=ff55 Next=ff56 Page_Down=ff56 End=ff57 Begin=ff58 Select=ff60 Print=ff61
Execute=ff62 Insert=ff63 Undo=ff65 Redo=ff66 Menu=ff67 Find=ff68 Cancel=ff69 Help=ff6a Break=ff6b
Mode_switch=ff7e Num_Lock=ff7f KP_Space=ff80 KP_Tab=ff89 KP_Enter=ff8d KP_F1=ff91 KP_F2=ff92
KP_F3=ff93 KP_F4=ff94 KP_Home=ff95 KP_Left=ff96 KP_Up=ff97 KP_Right=ff98 KP_Down=ff99
KP_Prior=ff9a KP_Page_Up=ff9a KP_Next=ff9b KP_Page_Down=ff9b KP_End=ff9c KP_Begin=ff9d
KP_Insert=ff9e KP_Delete=ff9f KP_Equal=ffbd KP_Multiply=ffaa KP_Add=ffab KP_Separator=ffac
KP_Subtract=ffad KP_Decimal=ffae KP_Divide=ffaf KP_0=ffb0 KP_1=ffb1 KP_2=ffb2 KP_3=ffb3 KP_4=ffb4
KP_5=ffb5 KP_6=ffb6 KP_7=ffb7 KP_8=ffb8 KP_9=ffb9 F1=ffbe F2=ffbf F3=ffc0 F4=ffc1 F5=ffc2 F6=ffc3
F7=ffc4 F8=ffc5 F9=ffc6 F10=ffc7 F11=ffc8 F12=ffc9 F13=ffca F14=ffcb F15=ffcc F16=ffcd F17=ffce
F18=ffcf F19=ffd0 F20=ffd1 F21=ffd2 F22=ffd3 F23=ffd4 F24=ffd5 F25=ffd6 F26=ffd7 F27=ffd8 F28=ffd9
F29=ffda F30=ffdb F31=ffdc F32=ffdd F33=ffde F34=ffdf F35=ffe0 Shift_L=ffe1 Shift_R=ffe2
Control_L=ffe3 Control_R=ffe4 Caps_Lock=ffe5 Shift_Lock=ffe6 Meta_L=ffe7 Meta_R=ffe8 Alt_L=ffe9
Alt_R=ffea Super_L=ffeb Super_R=ffec Hyper_L=ffed Hyper_R=ffee ISO_Lock=fe01 ISO_Level2_Latch=fe02
ISO_Level3_Shift=fe03 ISO_Level3_Latch=fe04 ISO_Level3_Lock=fe05 ISO_Level5_Shift=fe11
ISO_Level5_Latch=fe12 ISO_Level5_Lock=fe13 ISO_Group_Shift=ff7e ISO_Group_Latch=fe06
ISO_Group_Lock=fe07 ISO_Next_Group=fe08 ISO_Next_Group_Lock=fe09 ISO_Prev_Group=fe0a
ISO_Prev_Group_Lock=fe0b ISO_First_Group=fe0c ISO_First_Group_Lock=fe0d ISO_Last_Group=fe0e
ISO_Last_Group_Lock=fe0f ISO_Left_Tab=fe20 ISO_Enter=fe34 dead_grave=fe50 dead_acute=fe51
dead_circumflex=fe52 dead_tilde=fe53 dead_perispomeni=fe53 dead_macron=fe54 dead_breve=fe55
dead_abovedot=fe56 dead_diaeresis=fe57 dead_abovering=fe58 dead_doubleacute=fe59 dead_caron=fe5a
dead_cedilla=fe5b dead_ogonek=fe5c dead_iota=fe5d dead_voiced_sound=fe5e
dead_semivoiced_sound=fe5f dead_belowdot=fe60 dead_hook=fe61 dead_horn=fe62 dead_stroke=fe63
dead_abovecomma=fe64 dead_psili=fe64 dead_abovereversedcomma=fe65 dead_dasia=fe65
dead_doublegrave=fe66 dead_belowring=fe67 dead_belowmacron=fe68 dead_belowcircumflex=fe69
dead_belowtilde=fe6a dead_belowbreve=fe6b dead_belowdiaeresis=fe6c dead_invertedbreve=fe6d
dead_belowcomma=fe6e dead_currency=fe6f
"""

_LATIN = """
space=20 exclam=21 quotedbl=22 numbersign=23 dollar=24 percent=25 ampersand=26 apostrophe=27
quoteright=27 parenleft=28 parenright=29 asterisk=2a plus=2b comma=2c minus=2d period=2e slash=2f
colon=3a semicolon=3b less=3c equal=3d greater=3e question=3f at=40 bracketleft=5b backslash=5c
bracketright=5d asciicircum=5e underscore=5f grave=60 quoteleft=60 braceleft=7b bar=7c
braceright=7d asciitilde=7e nobreakspace=a0 exclamdown=a1 cent=a2 sterling=a3 currency=a4 yen=a5
brokenbar=a6 section=a7 diaeresis=a8 copyright=a9 ordfeminine=aa guillemotleft=ab notsign=ac
hyphen=ad registered=ae macron=af degree=b0 plusminus=b1 twosuperior=b2 threesuperior=b3 acute=b4
mu=b5 paragraph=b6 periodcentered=b7 cedilla=b8 onesuperior=b9 masculine=ba guillemotright=bb
onequarter=bc onehalf=bd threequarters=be questiondown=bf Agrave=c0 Aacute=c1 Acircumflex=c2
Atilde=c3 Adiaeresis=c4 Aring=c5 AE=c6 Ccedilla=c7 Egrave=c8 Eacute=c9 Ecircumflex=ca
Ediaeresis=cb Igrave=cc Iacute=cd Icircumflex=ce Idiaeresis=cf ETH=d0 Eth=d0 Ntilde=d1 Ograve=d2
Oacute=d3 Ocircumflex=d4 Otilde=d5 Odiaeresis=d6 multiply=d7 Oslash=d8 Ooblique=d8 Ugrave=d9
Uacute=da Ucircumflex=db Udiaeresis=dc Yacute=dd THORN=de Thorn=de ssharp=df agrave=e0 aacute=e1
acircumflex=e2 atilde=e3 adiaeresis=e4 aring=e5 ae=e6 ccedilla=e7 egrave=e8 eacute=e9
ecircumflex=ea ediaeresis=eb igrave=ec iacute=ed icircumflex=ee idiaeresis=ef eth=f0 ntilde=f1
ograve=f2 oacute=f3 ocircumflex=f4 otilde=f5 odiaeresis=f6 division=f7 oslash=f8 ooblique=f8
ugrave=f9 uacute=fa ucircumflex=fb udiaeresis=fc yacute=fd thorn=fe ydiaeresis=ff EuroSign=20ac
"""

_XF86 = """
ModeLock=1 MonBrightnessUp=2 MonBrightnessDown=3 KbdLightOnOff=4 KbdBrightnessUp=5
KbdBrightnessDown=6 MonBrightnessCycle=7 Standby=10 AudioLowerVolume=11 AudioMute=12
AudioRaiseVolume=13 AudioPlay=14 AudioStop=15 AudioPrev=16 AudioNext=17 HomePage=18 Mail=19
Start=1a Search=1b AudioRecord=1c Calculator=1d Memo=1e ToDoList=1f Calendar=20 PowerDown=21
ContrastAdjust=22 RockerUp=23 RockerDown=24 RockerEnter=25 Back=26 Forward=27 Stop=28 Refresh=29
PowerOff=2a WakeUp=2b Eject=2c ScreenSaver=2d WWW=2e Sleep=2f Favorites=30 AudioPause=31
AudioMedia=32 MyComputer=33 VendorHome=34 LightBulb=35 Shop=36 History=37 OpenURL=38
AddFavorite=39 HotLinks=3a BrightnessAdjust=3b Finance=3c Community=3d AudioRewind=3e
BackForward=3f Launch0=40 Launch1=41 Launch2=42 Launch3=43 Launch4=44 Launch5=45 Launch6=46
Launch7=47 Launch8=48 Launch9=49 LaunchA=4a LaunchB=4b LaunchC=4c LaunchD=4d LaunchE=4e LaunchF=4f
ApplicationLeft=50 ApplicationRight=51 Book=52 CD=53 Calculater=54 Clear=55 Close=56 Copy=57
Cut=58 Display=59 DOS=5a Documents=5b Excel=5c Explorer=5d Game=5e Go=5f iTouch=60 LogOff=61
Market=62 Meeting=63 MenuKB=65 MenuPB=66 MySites=67 New=68 News=69 OfficeHome=6a Open=6b Option=6c
Paste=6d Phone=6e Q=70 Reply=72 Reload=73 RotateWindows=74 RotationPB=75 RotationKB=76 Save=77
ScrollUp=78 ScrollDown=79 ScrollClick=7a Send=7b Spell=7c SplitScreen=7d Support=7e TaskPane=7f
Terminal=80 Tools=81 Travel=82 UserPB=84 User1KB=85 User2KB=86 Video=87 WheelButton=88 Word=89
Xfer=8a ZoomIn=8b ZoomOut=8c Away=8d Messenger=8e WebCam=8f MailForward=90 Pictures=91 Music=92
Battery=93 Bluetooth=94 WLAN=95 UWB=96 AudioForward=97 AudioRepeat=98 AudioRandomPlay=99
Subtitle=9a AudioCycleTrack=9b CycleAngle=9c FrameBack=9d FrameForward=9e Time=9f Select=a0
View=a1 TopMenu=a2 Red=a3 Green=a4 Yellow=a5 Blue=a6 Suspend=a7 Hibernate=a8 TouchpadToggle=a9
TouchpadOn=b0 TouchpadOff=b1 AudioMicMute=b2 Keyboard=b3 WWAN=b4 RFKill=b5 AudioPreset=b6
RotationLockToggle=b7 FullScreen=b8
"""
# First keysym of the vendor block of XFree86; the table contains the last byte of each.
_XF86_FIRST = 0x1008FF00


def _table(text: str, first: int = 0, prefix: str = "") -> dict[str, int]:
    pairs = (entry.split("=") for entry in text.split())
    return {prefix + name: first + int(number, 16) for name, number in pairs}


KEYSYMS: dict[str, int] = {
    **_table(_FUNCTION),
    **_table(_LATIN),
    **_table(_XF86, _XF86_FIRST, "XF86"),
}
"""Keysyms by name, without single characters."""

NAMES: dict[str, str] = {name.lower(): name for name in reversed(KEYSYMS)}
"""Canonical name by lower-case name; of names that differ only in case, the first."""
