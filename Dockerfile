# The environment is built in the first stage, the program in it; the second holds nothing else.
FROM python:3.13-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
WORKDIR /src
COPY requirements.lock ./
RUN /opt/venv/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml setup.py README.md LICENSE ./
COPY alembic alembic
COPY app app
RUN /opt/venv/bin/pip install --no-deps --no-build-isolation .

FROM python:3.13-slim
RUN groupadd --gid 10001 turnkeep \
    && useradd --uid 10001 --gid 10001 --no-create-home --shell /usr/sbin/nologin turnkeep \
    && install -d -o turnkeep -g turnkeep /data
COPY --from=build /opt/venv /opt/venv
WORKDIR /data
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    TURNKEEP_DATABASE_URL=sqlite:////data/turnkeep.db
USER 10001:10001
VOLUME /data
EXPOSE 8420
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ.get('TURNKEEP_PORT', '8420') + '/healthz', timeout=2)"]
# Others can reach it, so there must be a key: the first start writes one to /data/first-key.
CMD ["sh", "-c", "turnkeep migrate && turnkeep keys create first --scopes admin --if-none --output /data/first-key && exec turnkeep serve --host 0.0.0.0"]
