"""Reports: the settled sweep as JSON, Markdown, one HTML page, and a few lines for a terminal."""
