"""Who gets told: Slack, the command line, schedules and their wiring."""
