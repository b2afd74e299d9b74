# The first stage builds the executable with Bun from npm.
FROM node:24-bookworm-slim AS build
RUN npm install --global bun@1.4.5
WORKDIR /build
COPY package.json bun.lock bunfig.toml ./
RUN bun install --frozen-lockfile --production
COPY tsconfig.json ./
COPY scripts scripts
COPY samples samples
COPY docs docs
COPY src src
# To record the commit: docker build --build-arg COMMIT="$(git rev-parse --short=12 HEAD)" …
ARG COMMIT=unknown
RUN MILLRACE_BUILD_COMMIT="$COMMIT" bun scripts/build.ts --outfile /build/dist/millrace

# The second stage contains the executable and nothing else of the project. It needs glibc and no other package.
FROM debian:bookworm-slim
RUN useradd --uid 10001 --user-group --no-create-home --home-dir /data --shell /usr/sbin/nologin millrace \
 && install -d -o millrace -g millrace -m 700 /data
COPY --from=build /build/dist/millrace /usr/local/bin/millrace
USER millrace
# Inside a container, the service listens on every address. Publish the port only where it should be reachable.
ENV MILLRACE_HOST=0.0.0.0 MILLRACE_PORT=3000 MILLRACE_DATA=/data
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["/usr/local/bin/millrace", "health"]
# `docker stop` sends SIGTERM and waits 10 s, which is also the time that running runs get. Use `--time 15`.
ENTRYPOINT ["/usr/local/bin/millrace"]
CMD ["serve"]
