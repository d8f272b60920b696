"""What a cell finds when it starts: its folders, its workspace from a template, the hidden files of its oracle."""
