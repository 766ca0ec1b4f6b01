"""Draw agreement as a figure: by campaign and source, by judge, and by the threshold of the controls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streams.reports.canvas import BLUE, GREY, ORANGE, canvas

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from streams.agreement.agreement_rows import AgreementRow, JudgeAgreementRow
    from streams.agreement.control_rows import ThresholdRow

SCALE = (("slight", 0.0), ("fair", 0.2), ("moderate", 0.4), ("substantial", 0.6), ("almost perfect", 0.8))
TONES = (BLUE, ORANGE, "#5b8c2a", "#8a4fbf", GREY)
FEWEST = 30  # comparable outcomes; a threshold with fewer is not drawn
MOST_LINES = 8  # campaigns whose thresholds are drawn


def agreement_figure(
    rows: Sequence[AgreementRow], judges: Sequence[JudgeAgreementRow], thresholds: Sequence[ThresholdRow]
) -> Figure:
    """Draw one panel for each kind of rows. This needs the extra `plot`."""
    with canvas(7.0, 4.0) as drawn:
        draw_agreement(drawn, rows, judges, thresholds)
    return drawn


def draw_agreement(
    drawn: Figure, rows: Sequence[AgreementRow], judges: Sequence[JudgeAgreementRow], thresholds: Sequence[ThresholdRow]
) -> None:
    """Draw on an empty figure, and set its size."""
    groups = _groups(rows)
    panels = 1 + bool(judges) + bool(thresholds)
    drawn.set_size_inches(7.0 + 4.2 * (panels - 1), max(3.2, 1.5 + 0.3 * len(groups)))
    axes = drawn.subplots(1, panels, squeeze=False, width_ratios=[1.5, *[1.0] * (panels - 1)])[0]
    _by_group(axes[0], rows, groups)
    if judges:
        _by_judge(axes[1], judges)
    if thresholds:
        _by_threshold(axes[-1], thresholds)


def _groups(rows: Sequence[AgreementRow]) -> list[tuple[str | None, str | None]]:
    found = dict.fromkeys((row.campaign, row.judges) for row in rows)
    return sorted(found, key=lambda group: (group[0] is None, group[0] or "", group[1] is not None, group[1] or ""))


def _by_group(axes: Axes, rows: Sequence[AgreementRow], groups: Sequence[tuple[str | None, str | None]]) -> None:
    """Draw outputs as shown as full dots. Expanded outputs are rings, if they differ."""
    totals = {(row.campaign, row.judges): row.total for row in rows if row.collapsed and row.kind == "inter"}
    expanded = any(row.total != totals[row.campaign, row.judges] for row in rows if row.kind == "inter")
    place = {group: k for k, group in enumerate(groups)}
    for kind, colour, mark in (("inter", BLUE, "o"), ("intra", ORANGE, "D")):
        for whole in (True, False) if expanded else (True,):
            found = [row for row in rows if row.kind == kind and row.collapsed is whole and row.kappa is not None]
            axes.errorbar(
                [row.kappa or 0.0 for row in found],
                [place[row.campaign, row.judges] for row in found],
                xerr=[_reach(found, "kappa_low", -1.0), _reach(found, "kappa_high", 1.0)],
                fmt=mark,
                color=colour,
                ecolor=colour,
                elinewidth=1.2,
                capsize=2.5,
                markerfacecolor=colour if whole else "white",
                markersize=5,
                label=f"{kind}{'' if not expanded else ', as shown' if whole else ', expanded'}",
            )
    axes.set_yticks(range(len(groups)), [_label(*group) for group in groups], parse_math=False)
    axes.set_ylim(len(groups) - 0.5, -0.5)
    ends = [row.kappa if row.kappa_low is None else row.kappa_low for row in rows if row.kappa is not None]
    axes.set_xlim(min(0.0, min((end for end in ends if end is not None), default=0.0) - 0.05), 1.0)
    for name, start in SCALE:
        axes.axvline(start, color=GREY, linewidth=0.5, alpha=0.6)
        axes.annotate(
            name, (start + 0.01, 1.0), xycoords=("data", "axes fraction"), fontsize=7, color=GREY, va="bottom"
        )
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=GREY, alpha=0.2)
    axes.set_xlabel("κ with 95 % intervals for other segments; words of Landis and Koch (1977)")
    axes.set_title("Agreement beyond chance\n")
    axes.figure.legend(
        *axes.get_legend_handles_labels(), fontsize=7.5, loc="outside lower left", ncols=4, frameon=False
    )


def _reach(rows: Sequence[AgreementRow], end: str, sign: float) -> list[float]:
    """Return how far the intervals reach to one side. An unknown one has no length."""
    found = ((row.kappa, getattr(row, end)) for row in rows)
    return [0.0 if bound is None or kappa is None else max(0.0, sign * (bound - kappa)) for kappa, bound in found]


def _label(campaign: str | None, judges: str | None) -> str:
    return (campaign or "all campaigns") + (f", {judges}" if judges else "")


def _by_judge(axes: Axes, judges: Sequence[JudgeAgreementRow]) -> None:
    for tone, source in zip(TONES, dict.fromkeys(row.source for row in judges), strict=False):
        found = [row for row in judges if row.source == source and row.inter_kappa is not None]
        axes.scatter(
            [row.inter_comparable for row in found],
            [row.inter_kappa or 0.0 for row in found],
            s=12,
            color=tone,
            alpha=0.7,
            linewidths=0,
            label=source,
        )
        if source:
            axes.legend(fontsize=7.5)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    if any(row.inter_kappa is not None for row in judges):
        axes.set_xscale("log")
    else:
        axes.annotate("no outcomes of two judges can be compared", (0.5, 0.5), xycoords="axes fraction", ha="center")
        axes.set_xticks([])
        axes.set_yticks([])
    axes.set_title("Every judge with the other judges\n")
    axes.set_xlabel("comparable outcomes of other judges")
    axes.set_ylabel("inter-annotator κ")
    axes.grid(color=GREY, alpha=0.2)


def _by_threshold(axes: Axes, rows: Sequence[ThresholdRow]) -> None:
    drawn = (row.campaign for row in rows if row.threshold is not None and row.comparable >= FEWEST)
    campaigns = list(dict.fromkeys(drawn))[:MOST_LINES]
    tones = TONES * MOST_LINES
    for tone, campaign in zip(tones, campaigns, strict=False):
        found = [
            row for row in rows if row.campaign == campaign and row.threshold is not None and row.comparable >= FEWEST
        ]
        thresholds, kappas = [row.threshold or 0.0 for row in found], [row.kappa or 0.0 for row in found]
        axes.plot(thresholds, kappas, "o-", color=tone, label=campaign)
        if len(campaigns) == 1:
            for row in found:
                axes.annotate(
                    f"{row.judges:,}",
                    (row.threshold or 0.0, row.kappa or 0.0),
                    xytext=(0, 6),
                    textcoords="offset points",
                    fontsize=7.5,
                    ha="center",
                    color=GREY,
                )
        everybody = [row.kappa for row in rows if row.campaign == campaign and row.threshold is None]
        if everybody[0] is not None:
            axes.axhline(everybody[0], color=tone, linewidth=0.8, linestyle="--")
    thresholds = sorted({row.threshold for row in rows if row.threshold is not None})
    axes.set_xticks(thresholds, [f"{threshold:.0%}" for threshold in thresholds])
    if len(campaigns) > 1:
        axes.legend(fontsize=7.5)
    axes.margins(y=0.15)
    axes.set_title("Agreement of judges who pass controls\n")
    axes.set_xlabel("least share of controls passed\nnumbers: judges; dashed line: all judges")
    axes.set_ylabel("inter-annotator κ")
    axes.grid(color=GREY, alpha=0.2)
