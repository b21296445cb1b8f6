"""Gates for other launchers: files to copy to where runs are started."""
