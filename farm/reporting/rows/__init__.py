"""A settled sweep as rows in the workflow benchmark's names, for those who have tools on them."""

from farm.reporting.rows.lines import aggregate_lines, row_lines

__all__ = ["aggregate_lines", "row_lines"]
