"""`farm` and `python -m farm`."""

from farm.cli.main import main

__all__ = ["main"]

if __name__ == "__main__":
    main()
