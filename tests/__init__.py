"""The tests of gpucost."""
