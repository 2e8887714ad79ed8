# A node in a container. Build: docker build -t millrace .   Run: docker run --rm --network host millrace
FROM debian:12
COPY tools/packages.txt tools/install /src/tools/
RUN apt-get update -q && /src/tools/install && rm -rf /var/lib/apt/lists/*
COPY . /src
RUN /src/tools/build build
EXPOSE 8080 9605
STOPSIGNAL SIGTERM
ENTRYPOINT ["/src/build/tools/millrace", "--config", "/src/config/millrace.yaml"]
