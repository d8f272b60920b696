"""The coordinator: dispatches a plan's cells, folds their results, and decides when the sweep ends."""
