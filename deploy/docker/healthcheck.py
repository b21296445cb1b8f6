"""Ask the service in the same container whether it answers; exit 1 when it does not.

Needs nothing but Python, so that it says nothing of what gpucost can import.
"""

from __future__ import annotations

import sys
from http.client import HTTPConnection, HTTPException

_PORT = 8080
_TIMEOUT_S = 4.0
_OK = 200


def healthy(port: int) -> bool:
    """Tell whether the process on a port of this host answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == _OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


if __name__ == "__main__":
    sys.exit(0 if healthy(int(sys.argv[1]) if len(sys.argv) > 1 else _PORT) else 1)
