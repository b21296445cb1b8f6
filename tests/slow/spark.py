"""Answers statements with Spark, on this machine: run by the Python that has it.

``python spark.py TASKS`` reads a list of ``{"rows": parquet, "sql": [statements]}`` and
prints the rows of each statement as texts.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    """Answer every task in one session."""
    from pyspark.sql import SparkSession  # type: ignore[import-not-found, unused-ignore]

    builder: Any = SparkSession.builder
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.master("local[2]").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    answers = []
    for task in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
        session.read.parquet(task["rows"]).createOrReplaceTempView("source_rows")
        answers.append(
            [[_texts(row) for row in session.sql(one).collect()] for one in task["sql"]]
        )
    session.stop()
    print(json.dumps(answers))


def _texts(row: Any) -> list[str | None]:
    return [None if cell is None else str(cell) for cell in row]


if __name__ == "__main__":
    main()
