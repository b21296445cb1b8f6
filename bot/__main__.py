"""The console command; knows only how to start the command line."""

from __future__ import annotations

from bot.cli import main

if __name__ == "__main__":
    main()
