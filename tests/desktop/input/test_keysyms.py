import unicodedata

from deskhand.desktop.input.keysyms import KEYSYMS, NAMES


def test_well_known_keysyms_have_their_numbers() -> None:
    assert KEYSYMS["Return"] == 0xFF0D
    assert KEYSYMS["Control_L"] == 0xFFE3
    assert KEYSYMS["F12"] == 0xFFC9
    assert KEYSYMS["eacute"] == ord("é")
    assert KEYSYMS["XF86AudioPlay"] == 0x1008FF14


def test_a_name_in_small_letters_finds_its_spelling() -> None:
    assert NAMES["page_up"] == "Page_Up"
    assert NAMES["xf86audioplay"] == "XF86AudioPlay"


def test_names_of_latin_letters_agree_with_unicode() -> None:
    for name in ("Aacute", "ntilde", "Odiaeresis", "ucircumflex", "ccedilla"):
        letter = unicodedata.name(chr(KEYSYMS[name])).rpartition(" WITH ")[0]
        assert letter.endswith(f"LETTER {name[0].upper()}")
        assert ("CAPITAL" in letter) == name[0].isupper()
