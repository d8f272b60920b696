"""A settled sweep as rows in the workflow benchmark's names, for those who have tools on them."""

from farm.reporting.rows.lines import export_lines

__all__ = ["export_lines"]
