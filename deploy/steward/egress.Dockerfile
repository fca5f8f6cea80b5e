# The only way out of Steward's network: Squid, as a user who is not root.
FROM debian:trixie-slim
RUN apt-get update && apt-get install --yes --no-install-recommends squid && rm -rf /var/lib/apt/lists/*
COPY squid.conf /etc/squid/squid.conf
USER proxy
EXPOSE 3128
ENTRYPOINT ["/usr/sbin/squid", "-N", "-f", "/etc/squid/squid.conf"]
