"""The texts of the reference files, the same on every run.

`token_texts()` gives lines that exercise the tokenizer; `embedding_texts()`
sentences that exercise the whole model. All of them were written for this
project or are drawn by a seeded generator.
"""

import random
import string
import unicodedata

ASCII_PROSE = """\
The ferry leaves at six, and nobody on the quay seems to mind the rain.
She measured the shelf twice, cut it once, and still had to start over.
Our test bench draws 3.2 amps at start-up; the fuse is rated for five.
Why would a lighthouse keeper need a second pair of gloves?
"Don't touch the yellow lever!" he shouted, but it was too late.
Mr. O'Neil's brother-in-law can't come; he's fixing the neighbours' roof.
Bread, salt, two onions & half a lemon: that is all the recipe asks for.
The committee un-postponed the meeting it had re-scheduled (twice).
A well-known so-called state-of-the-art rock'n'roll band played till 2 a.m.
I'd've told you, if you'd asked... wouldn't I?
WARNING: DO NOT OPEN THE HATCH WHILE THE PUMP IS RUNNING
mIxEd CaSe TeXt Is HaRd To ReAd BuT eAsY tO lOwEr
Compilers fold constants, schedule loads and spill registers reluctantly.
Photosynthesis converts sunlight, water and carbon dioxide into sugars.
The defendant's counterclaim was dismissed without prejudice on Thursday.
Antidisestablishmentarianism and floccinaucinihilipilification are long.
He paid $1,299.99 (plus 8% tax) for a #2 pencil @ the corner shop.
Snow fell on the pass; the goats, unimpressed, kept walking.
Teach me how to whistle and I will teach you how to row.
x = a*b + c/d - (e % f) ^ g | h & ~i;
if (p != nullptr && p->next == head) { return p[0]; } // done
for i in range(10): print(f"{i:>3}", end="\\n")
SELECT name, COUNT(*) FROM birds WHERE wingspan >= 1.5 GROUP BY name;
{"key": [1, 2.5, -3e-7, true, null], "nested": {"a": "b"}}
<p class="note">Less &lt; more &amp; equal</p>
C:\\Users\\guest\\notes.txt and /usr/local/share/doc/readme.md
""".splitlines()

URLS = """\
https://www.example.com/a/b?c=d&e=f#g
http://user:secret@host.example.org:8080/~dir/file_name-1.tar.gz
mailto:first.last+tag@mail.example.net
see example.com, or ftp://files.example.com/pub/;type=a
10.0.0.1 2001:db8::ff00:42:8329 00:1B:44:11:3A:B7
@handle #hashtag #two_words ... $var ${var} %PATH% \\n \\t
""".splitlines()

WORLD = """\
Où est la bibliothèque du château ? Là-bas, à côté de l'église.
Größere Vögel übernachten häufig auf süß duftenden Bäumen; Straße.
El pingüino comió un jalapeño en la montaña; ¿qué más?
A ação do coração não é só emoção.
Řidič půjčil sousedům těžký žebřík a šel.
Źrebię piło wodę, a gęś śpiewała łąkom.
Ångström, smörgåsbord, København, Øre, Æble, Þórr, ðæt
İSTANBUL ile IĞDIR arasında ılık bir gün: İi Iı
Ἡ θάλασσα καὶ ὁ ἥλιος, ᾧ ᾼ ΐ, ΟΔΥΣΣΕΥΣ, ΣΑΣ σας
Завтра утром поезд в Ялту опоздает; ЁЖ и йогурт
Їжак з'їв ґедзя; Ђорђе и Љиљана; ѐ ѝ ѣ ѳ
السلام عليكم، كيف حالُكَ اليومَ؟ ١٢٣٤
שָׁלוֹם עולם, מה שלומך? ״כן״ – ת׳
هوا امروز خوب است؛ می‌روم به بازار
สวัสดีครับ วันนี้อากาศดีมาก ๑๒๓
안녕하세요, 오늘은 날씨가 좋네요. 값싼 닭볶음탕
ㄱㄴㄷ ㅏㅑㅓ 가각힣
今天的天气很好,我们去河边散步吧。
東京都の桜は四月に咲きます。カタカナ、ひらがな。ガギグ ぱぴぷ
㐀㐁 𠀀𠀁 豈更車 丽丸 一丁
नमस्ते दुनिया, क्षत्रिय ज़रूर फ़िल्म
আমি বাংলায় গান গাই। ো ৌ
தமிழ் மொழி கோ கொ; తెలుగు; ಕನ್ನಡ ೋ; മലയാളം ൊ
ქართული ენა Ⴀ Ა; Հայերեն և; አማርኛ
ᏣᎳᎩ ꮳꮃꭹ; ᚠᚢᚦ; 𐐀𐐨 𞤀𞤢; ⴰⴱⴲ
Tiếng Việt: Nguyễn Thị Hường ăn phở ở Huế
Ǆ ǅ ǆ Ǉ ǈ Ŀ ŀ ŉ ſ ẞ ß ﬁ ﬂ ﬀ Ĳ ĳ
½ ¼ ² ³ ¹ ª º µ µm Ω Å K ℃ № ™ © ® ℵ ∑ ∞ ≠ ≮ ≯ √2 × ÷ ±
""".splitlines()

SYMBOLS = [
    "\U0001f600 \U0001f44d\U0001f3fd \U0001f468\u200d\U0001f469\u200d\U0001f467",
    "\u2764\ufe0f \u2603 \u263a \U0001f1eb\U0001f1f7 1\ufe0f\u20e3 \u00a9\ufe0e",
    "I \u2665 tea\u2026 and \u201cquotes\u201d \u2018here\u2019 \u00abthere\u00bb",
    "\u2013 \u2014 \u2015 \u2010 \u2011 \u2012 \u00ad \u2212 \uff0d \ufe58",
    "\u20ac10 \u00a35 \u00a5300 \u20b9 \u20bf 5\u00a2 \u2191\u2193 \u25a0\u25cf",
    "\uff28\uff45\uff4c\uff4c\uff4f\u3000\uff37\uff4f\uff52\uff4c\uff44\uff01",
    "\uff11\uff12\uff13 \uff76\uff9e\uff77 \uffe5 \uff62x\uff63 \uff5e",
    "\u037e \u0387 \u1fef \u1ffd \u2126 \u212a \u212b \u2329x\u232a",
    "\u3001\u3002\u300c\u300d\u3010\u3011\u30fb\u301c \u060c\u061b\u061f \u0964",
    "\U0001d400\U0001d7ce \u2460\u2488 \u2160\u2170 \u24b6\u24d0 \u33a1",
]

# Between two words each; the last ones vanish or split in unusual ways.
SEPARATORS = (
    [chr(c) for c in range(0x21)]
    + [chr(c) for c in (0x7F, 0x80, 0x85, 0x9F, 0xA0, 0xAD, 0x34F, 0x61C)]
    + [chr(c) for c in (0x1680, 0x180B, 0x180E, *range(0x2000, 0x2010))]
    + [chr(c) for c in (*range(0x2028, 0x2030), 0x205F, *range(0x2060, 0x2070))]
    + [chr(c) for c in (0x3000, 0x2800, 0x3164, 0x115F, 0xFE0F, 0xFEFF)]
    + [chr(c) for c in (0xFFF9, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0xE000)]
    + [chr(c) for c in (0xE0001, 0xE0041, 0xE0100, 0xF0000, 0x10FFFF, 0x378)]
)

SPECIALS = [
    "[SEP]", "[CLS]", "[MASK]", "[UNK]", "[PAD]", "[CLS] a [SEP] b [SEP]",
    "the[MASK]ing", "[MASK][MASK]", "[[MASK]]", "[MASK", "MASK]", "[mask]",
    "[ MASK ]", "[Sep]", "[unused0]", "[unused99]", "##ing", "## ing", "#",
    "[SEP]\u0301", "\u0301[SEP]", "[S\u200bEP]", "[\u0000SEP]", "a[PAD]b[UNK]c",
    "[MASK]\u3000[MASK]\t[MASK]\n", "\uff3bMASK\uff3d", "[]", "[[]]", "[SEP]]",
]  # fmt: skip

WORDS = (
    "amber basket canyon drizzle ember falcon granite harbour island jacket"
    " kettle lantern meadow nutmeg orchard pebble quartz ribbon saddle timber"
    " umbrella velvet walnut yonder zephyr walking unbelievable tokenization"
    " recalibrated hyperparameters embeddings quickly never of the and a in to"
    " reads lifts paints forgets counts carries between under after because"
).split()

BASES = "aeiouAEIOUcnszyCNSZYdDgGhHkKlLrRtTwW"
MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030c\u0323\u0327"

# (first, last) of the blocks that the random words are drawn from.
BLOCKS = [
    (0x80, 0x24F), (0x250, 0x2FF), (0x300, 0x36F), (0x370, 0x3FF),
    (0x400, 0x52F), (0x530, 0x5FF), (0x600, 0x6FF), (0x900, 0xDFF),
    (0xE00, 0xFFF), (0x10A0, 0x11FF), (0x1780, 0x18AF), (0x1B00, 0x1CFF),
    (0x1E00, 0x1EFF), (0x1F00, 0x1FFF), (0x2000, 0x20FF), (0x2100, 0x23FF),
    (0x2C00, 0x2E7F), (0x3000, 0x30FF), (0x3130, 0x33FF), (0x4E00, 0x9FFF),
    (0xA640, 0xABFF), (0xAC00, 0xD7A3), (0xF900, 0xFAFF), (0xFB00, 0xFDFF),
    (0xFE00, 0xFFFF), (0x10000, 0x10FFF), (0x11000, 0x11FFF),
    (0x16E00, 0x16EFF), (0x1D100, 0x1D7FF), (0x1E000, 0x1E9FF),
    (0x1F300, 0x1FAFF), (0x20000, 0x2FA1F), (0xE0000, 0xE01EF),
]  # fmt: skip


def prose(rng, words):
    text = " ".join(rng.choice(WORDS) for _ in range(words))
    return text[:1].upper() + text[1:] + rng.choice(".?!")


def numbers(rng):
    n = rng.randrange(10 ** rng.randrange(1, 13))
    return rng.choice(
        [f"{n}", f"{n:,}", f"-{n}.{n % 97}", f"{n:x}", f"0x{n:X}", f"{n}%",
         f"{n:e}", f"{n % 24}:{n % 60:02}", f"v{n % 9}.{n % 7}.{n % 5}-rc{n % 3}",
         f"{n}th of {n % 12 + 1}/{1900 + n % 200}", f"${n}.00"]
    )  # fmt: skip


def accented(rng):
    word = ""
    for _ in range(rng.randrange(1, 9)):
        word += rng.choice(BASES)
        word += "".join(rng.choice(MARKS) for _ in range(rng.choice((0, 0, 1, 2))))
    return unicodedata.normalize(rng.choice(("NFC", "NFD")), word)


def block_line(rng, first, last):
    words = []
    for _ in range(rng.randrange(2, 6)):
        points = [rng.randint(first, last) for _ in range(rng.randrange(1, 6))]
        words.append("".join(map(chr, points)))
    return rng.choice((" ", "", "-", "x")).join(words)


def any_code_point(rng):
    c = rng.randrange(0x110000 - 0x800)  # Steps over the surrogates.
    return chr(c if c < 0xD800 else c + 0x800)


def long_texts(rng):
    for char in ("a", "z", "\u00e9", "\u4e2d", "\uac00", "!", "\U0001f600"):
        for count in (99, 100, 101, 102, 260):
            yield char * count
    yield "e\u0301" * 100  # 200 code points that become 100.
    yield "e\u0301" * 101
    yield "\uac00" * 50  # 50 syllables that become 100 letters.
    yield "\uac00" * 51
    yield "[MASK]" * 253
    yield "[MASK]" * 254
    yield "[MASK]" * 255
    for words in (250, 254, 255, 300, 900):
        yield prose(rng, words)


def token_texts():
    rng = random.Random(20240521)
    texts = ["", " ", "\n", " \t\r\n ", "a", "A", ".", "\u0301", "\ufffd", "\u200b"]
    for group in (ASCII_PROSE, URLS, WORLD, SYMBOLS, SPECIALS):
        texts += group
    texts += [text.upper() for text in WORLD]
    texts += [unicodedata.normalize("NFD", text) for text in WORLD]
    texts += [f"left{s}right {s} {s}" for s in SEPARATORS]
    texts += [f"{p}word{p}{p} it{p}s 1{p}2 {p}" for p in string.punctuation]
    texts += long_texts(rng)
    texts += [prose(rng, rng.randrange(1, 40)) for _ in range(150)]
    texts += [" ".join(numbers(rng) for _ in range(5)) for _ in range(60)]
    texts += [" ".join(accented(rng) for _ in range(6)) for _ in range(100)]
    for first, last in BLOCKS:
        texts += [block_line(rng, first, last) for _ in range(12)]
    for _ in range(150):
        texts.append("".join(any_code_point(rng) for _ in range(rng.randrange(1, 25))))
    for _ in range(100):  # Everything at once.
        parts = [rng.choice(ASCII_PROSE), rng.choice(WORLD), rng.choice(SPECIALS)]
        parts += [rng.choice(SEPARATORS), any_code_point(rng), accented(rng)]
        rng.shuffle(parts)
        texts.append("".join(parts))
    return texts


def embedding_texts():
    """Ordinary and awkward sentences; then one per length that matters."""
    rng = random.Random(7)
    texts = [
        "", " ", "a", "Hello", "?", "\u200b", "\ufffd\u0301", "[MASK]",
        "\U00012000\U00012001",  # Cuneiform: unknown characters only.
        "A cat dozes on the warm windowsill.",
        "A kitten is asleep on the sunny ledge.",
        "Interest rates rose for the third time this year.",
        "The caf\u00e9 serves cr\u00e8me br\u00fbl\u00e9e, na\u00efvely priced.",
        "CAFE CREME BRULEE",
    ]  # fmt: skip
    texts += [ASCII_PROSE[i] for i in (0, 2, 4, 16, 19, 22)]
    texts += [WORLD[i] for i in (1, 8, 9, 11, 12, 14, 15, 17, 18, 26)]
    texts += [SYMBOLS[0], SYMBOLS[5], URLS[0], "z" * 150]
    # Words of a single token each, so the length is theirs plus two.
    plain = [word for word in WORDS if word in PLAIN_WORDS]
    for tokens in (3, 8, 15, 16, 17, 31, 32, 33, 64, 127, 128, 129, 200, 255, 256):
        texts.append(" ".join(rng.choice(plain) for _ in range(tokens - 2)))
    texts.append(prose(rng, 400))  # Cut off at 256.
    return texts


PLAIN_WORDS = frozenset(
    "amber basket canyon falcon granite harbour island jacket lantern meadow"
    " orchard quartz ribbon saddle timber umbrella velvet walnut walking"
    " quickly never of the and a in to reads between under after because".split()
)
