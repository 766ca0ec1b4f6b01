"""Words for columns and verdicts in English, German, French, Spanish and Chinese, to propose a mapping.

They are used for a proposal only, which the user sees and may change. Words are written without accents and may be the
beginning of a longer word.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

# What a column is, by a word of its name.
WORDS = {
    "winner": "winner wins won prefer better best chosen choice chose verdict vote outcome result selected pick"
    " decision answer label judgment judgement accepted votes"
    " sieger gewinner besser beste bevorzug auswahl gewahlt urteil entscheidung ergebnis wahl praferenz antwort"
    " gagnant vainqueur choix choisi meilleur resultat reponse"
    " ganador eleccion elegid mejor veredicto respuesta"
    " 获胜 胜者 胜方 赢家 胜出 优胜 更好 偏好 选择 结果 判断 裁决",
    "loser": "loser losing lost rejected worse worst inferior other verlierer abgelehnt schlechter schwacher unterlegen"
    " perdant rejet pire moins inferieur perdedor rechazad peor menos 败者 败方 输家 落选 拒绝 失败",
    "system": "model system sys engine candidate bot mt llm ai assistant generator player opponent baseline variant"
    " kandidat maschine ubersetzer ki modele systeme moteur traducteur candidat ia sistema motor traductor"
    " 模型 系统 引擎 选手 候选",
    "judge": "judge rater annotator worker user assessor evaluator participant reviewer labeler labeller turker voter"
    " coder listener subject respondent mail email bewerter gutachter richter nutzer prufer teilnehmer juror"
    " juge jure evaluateur annotateur utilisateur correcteur juez jueza juec evaluador anotador usuario revisor"
    " participante calificador"
    " 评委 评审 标注 评价者 评价人 用户 评估者 评估人 评估员 评判 裁判 评分员 评分人"
    " 打分人 打分者 评分者 投票人 投票者 参与者 测评员 测评人 被试",
    "segment": "segment seg prompt instruction question item sentence task example query topic input text src source"
    " stimulus utterance hit satz frage aufgabe"
    " beispiel abschnitt eingabe phrase enonce consigne tache exemple frase pregunta oracion tarea ejemplo entrada"
    " 句子 问题 题目 题 段落 提示 任务 样本 输入 原文",
    "score": "score rating quality mos point grade star adequacy bewertung punkt note qualitat wertung qualite"
    " puntuacion nota calificacion calidad puntaje 分数 评分 得分 打分 质量",
    "strength": "strength margin likert scale degree difference starke differenz grad force intensite degre fuerza"
    " intensidad diferencia grado 强度 程度 差距",
    "tie": "tie tied draw equal same unentschieden gleich egalite nul empate igual 平局 平手 相同",
    # Numbers of these are better if they are lower, or say nothing about quality.
    "no score": "rank place position error penalty cost price latency time duration length words tokens characters"
    " rang platz fehler dauer lange erreur duree longueur rango puesto posicion duracion longitud"
    " 排名 名次 错误 长度 时间",
    "output": "output option response answer translation text antwort ubersetzung reponse traduction respuesta"
    " traduccion opcion texto texte 回答 译文 选项",
    "at": "timestamp tstamp time when date created submitted zeit datum heure horodatage hora fecha 时间 日期",
}
# Words that are as a whole one of these, because many words begin like them.
_WHOLE = frozenset(
    {
        "at",
        "mt",
        "bot",
        "tie",
        "item",
        "user",
        "note",
        "nota",
        "nul",
        "grad",
        "won",
        "wahl",
        "vote",
        "star",
        "seg",
        "sys",
        "ai",
        "ia",
        "ki",
        "hit",
        "mos",
        "src",
        "other",
        "input",
        "jure",
    }
)
_WORDS = {role: tuple(text.split()) for role, text in WORDS.items()}

# Words for the two sides. The names of two columns that differ in such a pair belong together.
SIDES = (
    *(("a", "b"), ("1", "2"), ("0", "1"), ("x", "y"), ("left", "right"), ("first", "second"), ("one", "two")),
    *(("links", "rechts"), ("linke", "rechte"), ("linkes", "rechtes"), ("linker", "rechter"), ("erste", "zweite")),
    *(
        ("erstes", "zweites"),
        ("erster", "zweiter"),
        ("gauche", "droite"),
        ("premier", "second"),
        ("premiere", "seconde"),
    ),
    *(("premier", "deuxieme"), ("izquierda", "derecha"), ("izquierdo", "derecho"), ("primero", "segundo")),
    *(
        ("primer", "segundo"),
        ("primera", "segunda"),
        ("左", "右"),
        ("甲", "乙"),
        ("一", "二"),
        ("baseline", "candidate"),
    ),
    *(("control", "treatment"), ("model", "baseline"), ("system", "baseline"), ("player", "opponent")),
    ("前者", "后者"),
)
# Of these, numbers and the letters x and y say nothing in a value, where they may count segments or judges. Words for
# systems say nothing either.
_NOT_IN_VALUES = {"0", "1", "2", "x", "y", "one", "two", "baseline", "candidate", "model", "system", "player"}
_FIRST = {"l", *(first for first, _ in SIDES)} - _NOT_IN_VALUES
_SECOND = {"r", *(second for _, second in SIDES)} - _NOT_IN_VALUES
_TIES = (
    *(
        "unentschieden",
        "gleich",
        "beide",
        "egalite",
        "egal",
        "nul",
        "deux",
        "aucun",
        "empate",
        "igual",
        "ambos",
    ),
    *("ningun", "weder", "kein", "indiff", "difference", "neutral", "tie", "draw", "equal", "same", "both", "neither"),
    *("平", "相同", "一样", "都", "无", "差不多", "相当", "不分"),
)
NO_ANSWER = {"n/a", "na", "nan", "null"}
_WON = {"win", "wins", "won", "sieg", "victoire", "victoria", "胜"}
_LOST = {"loss", "lose", "loses", "lost", "niederlage", "defaite", "derrota", "负"}

_TOKEN = re.compile(r"[a-z]+|\d+|[\u3400-\u9fff]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LONGEST = 100  # characters of a name or value that are looked at
_HAN = re.compile(r"[\u3400-\u9fff]")


def tokens(text: str) -> tuple[str, ...]:
    """Return the words of a name without accents; every Chinese character is one.

    >>> tokens("bevorzugtesSystem_1"), tokens("système préféré"), tokens("系统甲")
    (('bevorzugtes', 'system', '1'), ('systeme', 'prefere'), ('系', '统', '甲'))
    """
    spaced = _CAMEL.sub(" ", text[:_LONGEST].replace("ß", "ss"))
    folded = "".join(each for each in unicodedata.normalize("NFKD", spaced) if not unicodedata.combining(each))
    return tuple(_TOKEN.findall(folded.lower()))


@lru_cache(maxsize=2000)
def name_fit(name: str, role: str) -> int:
    """Return how well the name of a column says this role: the length of the word that it has in it, or 0.

    >>> name_fit("评分员", "judge") > name_fit("评分员", "score") > name_fit("评分员", "at")
    True
    """
    found, best = tokens(name), 0
    for word in _WORDS[role]:
        if _HAN.match(word):
            fits = word in name
        else:
            fits = word in found or (word not in _WHOLE and any(token.startswith(word) for token in found))
        best = max(best, (2 * len(word) if _HAN.match(word) else len(word)) * fits)
    return best


def side_of(value: str) -> str | None:
    """Return whether the words of a verdict mean a, b or a tie, or None.

    >>> side_of("linkes System"), side_of("左边更好"), side_of("一样好"), side_of("Antwort 2"), side_of("r1")
    ('a', 'a', 'tie', 'b', None)
    """
    found = tokens(value)
    numbers = [token for token in found if token.isdigit()]
    if numbers in (["1"], ["2"]) and (name_fit(value, "output") or name_fit(value, "system")):
        return "a" if numbers == ["1"] else "b"
    if numbers:  # a letter beside a number counts judges or segments
        found = tuple(token for token in found if len(token) > 1 or _HAN.match(token))
    if any(_is_tie(token, value) for token in found if token not in _FIRST | _SECOND):
        return "tie"
    if len(found) == 1 and found[0] in _WON | _LOST:
        return "a" if found[0] in _WON else "b"
    first, second = (bool(words.intersection(found)) for words in (_FIRST, _SECOND))
    return None if first == second else "a" if first else "b"


def _is_tie(token: str, value: str) -> bool:
    return any(word in value if _HAN.match(word) else token.startswith(word) for word in _TIES)
