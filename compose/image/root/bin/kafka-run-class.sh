#!/usr/bin/env bash
# Runs a class of the Kafka jars: kafka-run-class.sh [--archive setup|server] CLASS ARGUMENT…
# Honours the variables of Kafka's own script: KAFKA_HEAP_OPTS, KAFKA_JVM_PERFORMANCE_OPTS, KAFKA_OPTS, KAFKA_JMX_OPTS,
# KAFKA_LOG4J_OPTS.
set -euo pipefail

home=/opt/kafka
archive=server
if [[ "${1-}" == --archive ]]; then
  archive="$2"
  shift 2
fi

log4j="${KAFKA_LOG4J_OPTS:--Dlog4j2.configurationFile=/etc/kafka/docker/tools-log4j2.yaml}"
# SerialGC: several brokers share one small machine, and one with a small heap needs no helper threads.
performance="${KAFKA_JVM_PERFORMANCE_OPTS:--XX:+UseSerialGC -XX:-UsePerfData -Djava.awt.headless=true}"
options=(-Xshare:auto)
[[ -s "$home/$archive.jsa" && "${KAFKA_OPTS-}" != *ArchiveClassesAtExit* ]] && options+=("-XX:SharedArchiveFile=$home/$archive.jsa")

# The class path must be the one that the archive was made with, or the JVM ignores the archive.
# shellcheck disable=SC2086 # the variables hold several words, as in Kafka's own script
exec java ${KAFKA_HEAP_OPTS:--Xmx256m} $performance "${options[@]}" ${KAFKA_JMX_OPTS-} $log4j ${KAFKA_OPTS-} \
  -Dfile.encoding=UTF-8 -Dkafka.logs.dir="$home/logs" -cp "$home/libs/*" "$@"
