"""Write tests/data/typing.json: 500 strings that must arrive exactly as they were typed.

Usage: python scripts/make_typing_corpus.py
"""

import json
import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path

TARGET = Path(__file__).parent.parent / "tests" / "data" / "typing.json"
COUNT = 500
LONGEST = 10_000
SEED = 20_260

# First and last code point of each range, of which every assigned letter, mark, number and sign is
# typed.
SCRIPTS = {
    "ascii": [(0x20, 0x7E)],
    "latin": [(0xA1, 0x24F), (0x1E00, 0x1EFF)],
    "greek": [(0x370, 0x3FF), (0x1F00, 0x1FFE)],
    "cyrillic": [(0x400, 0x52F)],
    "hebrew": [(0x591, 0x5F4)],
    "arabic": [(0x620, 0x6FF)],
    "devanagari": [(0x900, 0x97F)],
    "thai": [(0xE01, 0xE5B)],
    "kana": [(0x3041, 0x30FF)],
    "hangul": [(0xAC00, 0xAC20)],
    "signs": [(0x2190, 0x21B0), (0x20A0, 0x20BF)],
}
CJK = [chr(0x4E00 + 61 * number) for number in range(340)]
EMOJI = (
    *("😀", "👍🏽", "❤️", "🇩🇪", "👩‍💻", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🤷🏿‍♀️"),
    *("🧑‍🚀", "🐈‍⬛", "🫶🏻", "1️⃣", "🏴‍☠️", "👁️‍🗨️"),
)
SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "Zwölf Boxkämpfer jagen Viktor quer über den großen Sylter Deich.",
    "Dès Noël, où un zéphyr haï me vêt de glaçons würmiens, je dîne d'exquis rôtis.",
    "El pingüino Wenceslao hizo kilómetros bajo exhaustiva lluvia y frío.",
    "Příliš žluťoučký kůň úpěl ďábelské ódy.",
    "Pchnąć w tę łódź jeża lub ośm skrzyń fig.",
    "Съешь же ещё этих мягких французских булок, да выпей чаю.",
    "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία.",
    "דג סקרן שט בים מאוכזב ולפתע מצא חברה",
    "نص حكيم له سر قاطع وذو شأن عظيم",
    "ऋषियों को सताने वाले दुष्ट राक्षसों के राजा रावण का सर्वनाश",
    "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า",
    "いろはにほへと ちりぬるを",
    "다람쥐 헌 쳇바퀴에 타고파",
    "視野無限廣，窗外有藍天",  # noqa: RUF001 - these are what is to be typed
    "if (a < b && c > d) { s += \"x\\t'y'\"; } // #~^`|@$%*",
    "Price: 12,50 € – “quoted” … ½ × ¾ ≠ ∑ → ok?",  # noqa: RUF001
)


def typed(first: int, last: int) -> Iterator[str]:
    """Yield the characters of a range that are not controls or unassigned."""
    for code in range(first, last + 1):
        if unicodedata.category(chr(code))[0] in "LMNPSZ":
            yield chr(code)


def script_strings() -> Iterator[str]:
    """Yield strings of forty characters with every character once."""
    for ranges in SCRIPTS.values():
        characters = [character for span in ranges for character in typed(*span)]
        for start in range(0, len(characters), 40):
            yield "".join(characters[start : start + 40])
    for start in range(0, len(CJK), 34):
        yield "".join(CJK[start : start + 34])


def combined_strings() -> Iterator[str]:
    """Yield letters with combining marks for which no keyboard layout has a key."""
    marks = [chr(code) for code in range(0x300, 0x340)]
    for start in range(0, len(marks), 8):
        yield "".join(
            f"{letter}{mark}" for letter, mark in zip("aeioucnz", marks[start:], strict=False)
        )
    yield "e\u0301 é e\u0323\u0302 ệ o\u0308\u0304"


def mixed_strings(chance: random.Random) -> Iterator[str]:
    """Yield mixtures of words in several scripts, emoji, line breaks and tabs."""
    near, far = (
        [word for sentence in some for word in sentence.split(" ")]
        for some in (SENTENCES[:3], SENTENCES[3:])
    )
    while True:
        some = [chance.choice(near) for _ in range(chance.randint(1, 8))]
        some.insert(chance.randint(0, len(some)), chance.choice((*far, *EMOJI)))
        yield chance.choice(" \n\t").join(some)


def corpus() -> list[str]:
    """Return all strings, the same at each call."""
    chance = random.Random(SEED)  # noqa: S311 - nothing is secret here
    strings = [*script_strings(), *combined_strings(), *SENTENCES, *EMOJI, "".join(EMOJI)]
    mixed = mixed_strings(chance)
    while len(strings) < COUNT - 1:
        strings.append(next(mixed))
    long = ""
    while len(long) < LONGEST:
        long += chance.choice(SENTENCES[:6]) + "\n"
    return [*strings, long[:LONGEST]]


if __name__ == "__main__":
    TARGET.write_text(json.dumps(corpus(), ensure_ascii=False, indent=0) + "\n")
