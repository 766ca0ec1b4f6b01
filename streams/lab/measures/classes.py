"""Predicted labels against gold labels: precision, recall and F1 of each class, and their averages."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from streams.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence


class ClassScore(Struct, frozen=True, kw_only=True):
    """The counts of one class, and the shares that follow. A share of nothing is 0, as in the WMT13 findings."""

    label: str
    true_positives: int
    false_positives: int
    false_negatives: int
    precision: float
    recall: float
    f1: float

    @classmethod
    def of(cls, label: str, *, true: int, false: int, missed: int) -> ClassScore:
        """Return the scores of these counts.

        >>> round(ClassScore.of("keep", true=10, false=30, missed=20).f1, 4)
        0.2857
        """
        return cls(
            label=label,
            true_positives=true,
            false_positives=false,
            false_negatives=missed,
            precision=_share(true, true + false),
            recall=_share(true, true + missed),
            f1=_share(2 * true, 2 * true + false + missed),
        )


class LabelScores(Struct, frozen=True, kw_only=True):
    """The scores of all classes. Every class of the predictions or the gold labels counts."""

    classes: tuple[ClassScore, ...]
    macro_f1: float
    micro_f1: float
    accuracy: float


def label_scores(predicted: Sequence[str], gold: Sequence[str]) -> LabelScores:
    """Return F1 by class, its mean over classes (macro), and F1 of the counts added up over classes (micro).

    F1 = 2 precision · recall / (precision + recall) = 2 tp / (2 tp + fp + fn). Micro-averaged F1 weighs every row
    alike, so large classes decide it, and with one label per row it equals the accuracy. WMT13 findings, 6.6, task 2.

    >>> found = label_scores(["keep", "change", "keep"], ["keep", "keep", "keep"])
    >>> [(one.label, round(one.f1, 2)) for one in found.classes], round(found.macro_f1, 2), round(found.micro_f1, 2)
    ([('change', 0.0), ('keep', 0.8)], 0.4, 0.67)
    """
    if len(predicted) != len(gold) or not gold:
        raise ParameterError(f"{len(predicted)} predicted and {len(gold)} gold labels; pass one or more of each")
    right = Counter(label for label, other in zip(predicted, gold, strict=True) if label == other)
    guessed, true = Counter(predicted), Counter(gold)
    classes = tuple(
        ClassScore.of(
            label,
            true=right[label],
            false=guessed[label] - right[label],
            missed=true[label] - right[label],
        )
        for label in sorted({*predicted, *gold})
    )
    wrong = len(gold) - right.total()
    return LabelScores(
        classes=classes,
        macro_f1=sum(one.f1 for one in classes) / len(classes),
        micro_f1=ClassScore.of("", true=right.total(), false=wrong, missed=wrong).f1,
        accuracy=right.total() / len(gold),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
