"""The limits of the data blocks: `table`, `data_table`, `data_visualization`."""

from __future__ import annotations

from typing import Any

from deploy.sandbox.slack.block_check import Findings

TABLE_ROWS_MAX = 100
TABLE_COLUMNS_MAX = 20
DATA_TABLE_ROWS_MIN, DATA_TABLE_ROWS_MAX = 2, 101
DATA_TABLE_PAGE_MAX = 100
TABLE_CHARS_MAX = 10_000
CHART_TITLE_MAX = 50
CHART_LABEL_MAX = 20
CHART_SERIES_MAX = 6
CHART_POINTS_MAX = 20
CHARTS_PER_MESSAGE_MAX = 2
CHART_TYPES = frozenset({"area", "bar", "line"})

Json = dict[str, Any]


def is_number(value: object) -> bool:
    """Tell whether a JSON value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_table(found: Findings, block: Json, pointer: str) -> None:
    """Check a `table` block."""
    kinds = frozenset({"raw_text", "rich_text"})
    where = f"{pointer}/rows"
    rows = found.items(block.get("rows"), where, most=TABLE_ROWS_MAX)
    for index, row in enumerate(rows):
        _row(found, row, f"{where}/{index}", kinds)


def check_data_table(found: Findings, block: Json, pointer: str) -> None:
    """Check a `data_table` block: caption, header, equal rows, total length."""
    found.chars(block.get("caption"), f"{pointer}/caption", most=TABLE_CHARS_MAX)
    _whole_number(found, block, "page_size", pointer, (1, DATA_TABLE_PAGE_MAX))
    _whole_number(
        found, block, "row_header_column_index", pointer, (0, TABLE_COLUMNS_MAX - 1)
    )
    where = f"{pointer}/rows"
    rows = found.items(
        block.get("rows"), where, most=DATA_TABLE_ROWS_MAX, least=DATA_TABLE_ROWS_MIN
    )
    body = frozenset({"raw_text", "raw_number", "rich_text"})
    for index, row in enumerate(rows):
        kinds = body if index else body - {"rich_text"}
        _row(found, row, f"{where}/{index}", kinds)
    if len({len(row) for row in rows if isinstance(row, list)}) > 1:
        found.add("all rows must have the same number of cells", where)
    if table_chars(block) > TABLE_CHARS_MAX:
        found.add(f"must be less than {TABLE_CHARS_MAX + 1} characters", where)


def _row(found: Findings, row: object, pointer: str, kinds: frozenset[str]) -> None:
    for index, cell in enumerate(found.items(row, pointer, most=TABLE_COLUMNS_MAX)):
        where = f"{pointer}/{index}"
        holder = found.mapping(cell, where)
        if holder is None:
            continue
        kind = holder.get("type")
        if kind not in kinds:
            found.add(f"unsupported type: {kind}", f"{where}/type")
        elif kind == "raw_text":
            found.chars(holder.get("text"), f"{where}/text", most=TABLE_CHARS_MAX)
        elif kind == "raw_number":
            found.chars(holder.get("text"), f"{where}/text", most=TABLE_CHARS_MAX)
            if not is_number(holder.get("value")):
                found.add("must be a number", f"{where}/value")


def _whole_number(
    found: Findings, block: Json, key: str, pointer: str, span: tuple[int, int]
) -> None:
    value = block.get(key)
    if value is None:
        return
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not span[0] <= value <= span[1]:
        found.add(f"must be between {span[0]} and {span[1]}", f"{pointer}/{key}")


def table_chars(block: Json) -> int:
    """Count the characters of every cell of a table."""
    cells = [
        cell
        for row in block.get("rows") or ()
        if isinstance(row, list)
        for cell in row
        if isinstance(cell, dict)
    ]
    return sum(len(str(cell.get("text", cell.get("value", "")))) for cell in cells)


def check_data_visualization(found: Findings, block: Json, pointer: str) -> None:
    """Check a `data_visualization` block: title, chart type, series, labels."""
    found.chars(block.get("title"), f"{pointer}/title", most=CHART_TITLE_MAX)
    where = f"{pointer}/chart"
    chart = found.mapping(block.get("chart"), where)
    if chart is None:
        return
    kind = chart.get("type")
    if kind == "pie":
        segments = found.items(
            chart.get("segments"), f"{where}/segments", most=CHART_SERIES_MAX
        )
        _points(found, segments, f"{where}/segments", positive=True)
    elif kind in CHART_TYPES:
        _series_chart(found, chart, where)
    else:
        found.add(f"unsupported type: {kind}", f"{where}/type")


def _series_chart(found: Findings, chart: Json, pointer: str) -> None:
    axis = found.mapping(chart.get("axis_config"), f"{pointer}/axis_config")
    categories = _categories(found, axis or {}, f"{pointer}/axis_config")
    where = f"{pointer}/series"
    names: list[object] = []
    series = found.items(chart.get("series"), where, most=CHART_SERIES_MAX)
    for index, one in enumerate(series):
        holder = found.mapping(one, f"{where}/{index}")
        if holder is None:
            continue
        names.append(holder.get("name"))
        found.chars(holder.get("name"), f"{where}/{index}/name", most=CHART_LABEL_MAX)
        place = f"{where}/{index}/data"
        data = found.items(holder.get("data"), place, most=CHART_POINTS_MAX)
        labels = _points(found, data, place, positive=False)
        if sorted(labels) != sorted(categories):
            found.add("labels must match axis_config.categories", place)
    _unique(found, names, where)


def _categories(found: Findings, axis: Json, pointer: str) -> list[str]:
    where = f"{pointer}/categories"
    values = found.items(axis.get("categories"), where, most=CHART_POINTS_MAX)
    for index, value in enumerate(values):
        found.chars(value, f"{where}/{index}", most=CHART_LABEL_MAX)
    for key in ("x_label", "y_label"):
        found.maybe_chars(axis, key, pointer, most=CHART_TITLE_MAX)
    _unique(found, list(values), where)
    return [str(value) for value in values]


def _points(
    found: Findings, points: object, pointer: str, *, positive: bool
) -> list[str]:
    labels: list[str] = []
    for index, point in enumerate(points if isinstance(points, list) else ()):
        where = f"{pointer}/{index}"
        holder = found.mapping(point, where)
        if holder is None:
            continue
        found.chars(holder.get("label"), f"{where}/label", most=CHART_LABEL_MAX)
        value = holder.get("value")
        if not is_number(value):
            found.add("must be a number", f"{where}/value")
        elif positive and not float(value or 0) > 0:
            found.add("must be greater than 0", f"{where}/value")
        labels.append(str(holder.get("label")))
    _unique(found, list(labels), pointer)
    return labels


def _unique(found: Findings, values: list[object], pointer: str) -> None:
    if len({str(value) for value in values}) != len(values):
        found.add("must be unique", pointer)
