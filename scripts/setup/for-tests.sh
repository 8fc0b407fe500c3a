# ./setup --for-tests: everything that `npm test` uses. Sourced by ./setup.
# shellcheck shell=bash

kafka_images=(4.4.0 4.0.2)
base_image=debian:bookworm-slim

for_tests() {
  java_and_maven
  engine
  images
  second_client
  other_node
  browser
}

java_and_maven() {
  local java
  java="$(java_version)"
  if at_least "${java:-0}" 17; then
    say "Java $java: the local runtime"
    if command -v mvn >/dev/null; then say 'Maven is there'; else packages 'Maven for the jars of Kafka' maven; fi
  else
    install_java
  fi
}

# --- the Docker engine: one that answers is left alone, whoever started it

engine() {
  local version missing=()
  version="$(engine_version)"
  if [[ -z "$version" ]]; then
    engine_elsewhere
    has_dockerd || missing+=(docker.io iptables)
  fi
  command -v docker >/dev/null || missing+=(docker-cli)
  at_least "$(compose_version)" 2.20 || missing+=(docker-compose)
  bounded 10 docker buildx version >/dev/null 2>&1 </dev/null || missing+=(docker-buildx)
  [[ ${#missing[@]} -eq 0 ]] || engine_packages "${missing[@]}"

  [[ -n "$version" ]] || version="$(engine_version)"
  if [[ -n "$version" ]]; then
    say "Docker engine $version answers"
  else
    step 'start the Docker engine' start_engine
  fi
}

has_dockerd() { PATH="$PATH:${KX_SBIN-/usr/sbin:/sbin}" command -v dockerd >/dev/null; }

# An engine that is there but not reached is not replaced by another one.
engine_elsewhere() {
  [[ -z "${DOCKER_HOST-}" ]] || fail "DOCKER_HOST is $DOCKER_HOST, and no Docker engine answers there. Start that engine, or unset DOCKER_HOST so that setup can start one here."
  command -v docker >/dev/null || return 0
  local said
  said="$(bounded 10 docker version 2>&1 </dev/null || true)"
  [[ "$said" != *'permission denied'* ]] || fail "A Docker engine runs here, but this user may not talk to it. Add the user to its group (sudo usermod -aG docker $(id -un)), log in again, then run ./setup again."
}

# The engine of Debian 12 has no Compose 2, so the packages come from Debian 13, whose other packages stay out (priority 100).
engine_packages() {
  has_apt || fail "The tests need a Docker engine (20.10 or later) with Compose (2.20 or later) and buildx; missing here: $*. Install Docker as its documentation says for this system, start it, then run ./setup --for-tests again."
  local list=("$@")
  case "$(os_field ID)/$(os_field VERSION_CODENAME)" in
    debian/bookworm)
      [[ -n "$dry_run" ]] || confirm "$*"
      [[ -f "${KX_APT_ETC:-/etc/apt}/sources.list.d/kx-trixie.sources" ]] || step 'add Debian 13 (trixie) as a package source of low priority, for a newer Docker' add_trixie
      list=()
      local package
      for package in "$@"; do
        if [[ "$package" == docker* ]]; then list+=("$package/trixie"); else list+=("$package"); fi
      done ;;
    ubuntu/*)
      list=("${list[@]/#docker-compose/docker-compose-v2}")
      list=("${list[@]/#docker-cli/docker.io}") ;;
  esac
  packages 'the Docker engine and its plugins' "${list[@]}"
}

add_trixie() {
  local mirror
  mirror="$(compose/image/debian-mirror)" || fail "The package sources of this machine name no Debian archive, so setup can't add Debian 13 to them. Install a Docker engine with Compose 2.20 or later yourself, then run ./setup --for-tests again."
  apt_install debian-archive-keyring
  as_root tee /etc/apt/sources.list.d/kx-trixie.sources >/dev/null <<TEXT
# Made by kx's setup, from the other Debian source of this machine. Its priority is in ../preferences.d/kx-trixie.
Types: deb
URIs: $mirror
Suites: trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
TEXT
  as_root tee /etc/apt/preferences.d/kx-trixie >/dev/null <<'TEXT'
Package: *
Pin: release n=/^trixie/
Pin-Priority: 100
TEXT
  apt_updated=
}

start_engine() {
  require_root 'dockerd --storage-driver overlay2'
  mkdir -p "$state"
  if [[ -d /run/systemd/system ]]; then
    as_root systemctl start docker || true
  else
    start_dockerd
  fi
  local tries
  for tries in $(seq 120); do
    [[ -n "$(engine_version)" ]] && return
    # Without systemd the process is ours: dead means that waiting is useless.
    [[ ! -s "$state/dockerd.pid" || -d /run/systemd/system ]] || as_root kill -0 "$(cat "$state/dockerd.pid")" 2>/dev/null || break
    sleep 0.5
  done
  [[ -r "$state/dockerd.log" ]] && tail -n 5 "$state/dockerd.log" >&2
  fail "The Docker engine did not answer within 60 s of its start (the end of its log is above; all of it: $state/dockerd.log, or journalctl -u docker). It needs root with all capabilities (in a container: --privileged), cgroups and the overlay file system. Mend what the log names, then run ./setup --for-tests again."
}

# In a session of its own, with no descriptor of ours: it outlives setup and holds no pipe of the caller open.
start_dockerd() {
  local options=(--log-level warn)
  [[ -e /etc/docker/daemon.json ]] || options+=(--storage-driver overlay2)
  remove_stale_pids
  # shellcheck disable=SC2016 # expanded by the inner shell
  PATH="$PATH:${KX_SBIN-/usr/sbin:/sbin}" as_root bash -c '
    state="$1"; shift
    for fd in /proc/self/fd/*; do fd="${fd##*/}"; if ((fd > 2)); then eval "exec $fd>&-"; fi; done
    setsid nohup dockerd "$@" >>"$state/dockerd.log" 2>&1 </dev/null &
    echo $! >"$state/dockerd.pid"' bash "$state" "${options[@]}"
}

# After a restart of the machine the number in a pid file may belong to any other process, and dockerd then refuses.
remove_stale_pids() {
  local file name
  for file in /var/run/docker.pid /run/docker/containerd/containerd.pid; do
    [[ -s "$file" ]] || continue
    name="$(cat "/proc/$(cat "$file")/comm" 2>/dev/null || true)"
    [[ "$name" == dockerd || "$name" == containerd ]] || as_root rm -f "$file"
  done
}

# --- the images

images() {
  local version stale=()
  for version in "${kafka_images[@]}"; do
    if [[ -n "$(engine_version)" ]] && compose/image/build --check "$version"; then
      say "image kx/kafka:$version is there"
    else
      stale+=("$version")
    fi
  done
  [[ ${#stale[@]} -eq 0 ]] && return
  get_base_image
  for version in "${stale[@]}"; do step "build the image kx/kafka:$version" build_image "$version"; done
}

get_base_image() {
  [[ -z "$(engine_version)" ]] || ! docker image inspect "$base_image" >/dev/null 2>&1 </dev/null || return 0
  if [[ -n "$dry_run" ]]; then
    step "pull $base_image, or make it with debootstrap where no image can be pulled"
    return
  fi
  bounded 300 docker pull -q "$base_image" >/dev/null 2>&1 </dev/null && return
  command -v debootstrap >/dev/null || packages "to make $base_image, which can't be pulled here" debootstrap
}

build_image() {
  compose/image/build "$1" </dev/null || fail "The image kx/kafka:$1 could not be built; the reason is above. Without it the docker tests have nothing to run."
}

# --- the second client, another Node, the browser

second_client() {
  if scripts/setup/second-client --check; then
    say 'the second client (librdkafka) is there'
    return
  fi
  step 'install the second client (librdkafka)' install_second_client
}

install_second_client() {
  local answer=0
  scripts/setup/second-client --prebuilt </dev/null || answer=$?
  [[ "$answer" -eq 0 ]] && return
  [[ "$answer" -ne 3 ]] || fail "npm could not bring the second client (npm's own words are above). Check that an npm registry is reachable from here (npm ping), then run ./setup --for-tests again."
  say 'no prebuilt second client can be had: building it takes one to three minutes'
  if has_apt; then
    confirm 'what the second client is built with'
    apt_install g++ make python3 libssl-dev zlib1g-dev libzstd-dev liblz4-dev libcurl4-openssl-dev libsasl2-dev
  fi
  scripts/setup/second-client --build </dev/null || fail "The second client could not be built (the reason is above). It needs a C++ compiler, make, Python 3, the headers of Node, and those of OpenSSL, zlib, zstd, lz4, curl and Cyrus SASL."
}

other_node() {
  if scripts/setup/other-node --check; then
    say 'Node 24 is there'
    return
  fi
  step 'get Node 24 (the npm package) for the version check' get_other_node
}

get_other_node() {
  scripts/setup/other-node </dev/null || fail "Node 24 could not be installed from npm (the reason is above). Check that an npm registry is reachable from here (npm ping), then run ./setup --for-tests again."
}

browser() {
  local name
  for name in chromium chromium-browser google-chrome google-chrome-stable; do
    if command -v "$name" >/dev/null; then
      say "the browser is there ($name)"
      return
    fi
  done
  packages 'the browser that opens the reports' chromium fonts-liberation
}
