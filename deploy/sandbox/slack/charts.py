"""A chart block as rows of label, value and length. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from deploy.sandbox.slack.model import Json
from deploy.sandbox.slack.mrkdwn import number


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartRow:
    """One bar; `share` is its length as a part of the longest, 0 to 1."""

    label: str
    value: str
    share: float
    series: int = 0


def chart_rows(chart: Json) -> list[ChartRow]:
    """Return the bars of a `data_visualization` block's chart."""
    if chart.get("type") == "pie":
        return _pie(chart)
    series = chart.get("series") or []
    values = [abs(point["value"]) for one in series for point in one["data"]]
    largest = max(values, default=0) or 1
    decimals = 0 if all(float(value).is_integer() for value in values) else 2
    rows: list[ChartRow] = []
    for category in (chart.get("axis_config") or {}).get("categories") or ():
        for index, one in enumerate(series):
            for point in one["data"]:
                if point["label"] != category:
                    continue
                several = len(series) > 1
                label = f"{category} {one['name']}" if several else str(category)
                share = abs(point["value"]) / largest
                value = f"{point['value']:,.{decimals}f}"
                row = ChartRow(label=label, value=value, share=share, series=index)
                rows.append(row)
    return rows


def _pie(chart: Json) -> list[ChartRow]:
    segments = chart.get("segments") or []
    total = sum(item["value"] for item in segments) or 1
    return [
        ChartRow(
            label=str(item["label"]),
            value=f"{number(item['value'])} ({item['value'] / total:.0%})",
            share=item["value"] / total,
            series=index,
        )
        for index, item in enumerate(segments)
    ]
