"""One function per thing gpucost does; knows ports and cores, never an adapter."""
