# Two stages: the first installs exactly what deploy/docker/requirements.txt names, by
# hash; the second is that environment on a plain Python, without pip or a compiler.
FROM python:3.12.12-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_NO_COMPILE=1
RUN python -m venv /opt/gpucost
WORKDIR /src
COPY deploy/docker/requirements.txt requirements.txt
RUN /opt/gpucost/bin/pip install --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY billing billing
COPY policies policies
COPY bot bot
RUN /opt/gpucost/bin/pip install --no-deps --no-build-isolation . \
 && /opt/gpucost/bin/pip uninstall --yes setuptools pip \
 && /opt/gpucost/bin/gpucost --version

FROM python:3.12.12-slim-bookworm

LABEL org.opencontainers.image.title="gpucost" \
      org.opencontainers.image.licenses="Apache-2.0"
RUN groupadd --gid 10001 gpucost \
 && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin gpucost \
 && install -d -o 10001 -g 10001 -m 0700 /var/lib/gpucost
COPY --from=build /opt/gpucost /opt/gpucost
COPY deploy/docker/healthcheck.py /opt/gpucost/healthcheck.py
# Nothing is written outside the two volumes: the root may be read-only.
ENV PATH=/opt/gpucost/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    HOME=/tmp \
    XDG_DATA_HOME=/var/lib
VOLUME ["/var/lib/gpucost", "/tmp"]
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "/opt/gpucost/healthcheck.py"]
ENTRYPOINT ["gpucost"]
CMD ["serve"]
