# What both halves of setup use. Sourced by ./setup.
# shellcheck shell=bash

dry_run="${dry_run-}"
agreed="${agreed-}"
changes=0
apt_updated=
state="${XDG_STATE_HOME:-$HOME/.local/state}/kx"

say() { printf 'setup: %s\n' "$1"; }

fail() {
  printf 'setup: %s\n' "$1" >&2
  exit 4
}

# step WHAT COMMAND…: does it, or with --dry-run says that it would.
step() {
  changes=$((changes + 1))
  if [[ -n "$dry_run" ]]; then
    say "would $1"
  else
    say "$1"
    "${@:2}"
  fi
}

# at_least 20.9.1 20.20: compares dotted numbers.
at_least() {
  local IFS=. i
  local -a have want
  read -ra have <<<"${1%%[-+_]*}"
  read -ra want <<<"$2"
  for i in "${!want[@]}"; do
    local a="${have[i]:-0}" b="${want[i]}"
    [[ "$a" =~ ^[0-9]+$ ]] || return 1
    ((10#$a > 10#$b)) && return 0
    ((10#$a < 10#$b)) && return 1
  done
  return 0
}

# --- what is there

# `docker version` answers with the server's version only if an engine answers; a hanging engine is none.
engine_version() {
  command -v docker >/dev/null || return 0
  bounded 10 docker version --format '{{.Server.Version}}' 2>/dev/null </dev/null || true
}

compose_version() {
  command -v docker >/dev/null || return 0
  bounded 10 docker compose version --short 2>/dev/null </dev/null | sed 's/^v//' || true
}

# macOS has no timeout(1).
bounded() {
  if command -v timeout >/dev/null; then timeout "$@"; else "${@:2}"; fi
}

# The version of the newest Java that kx would find: JAVA_HOME, then the PATH, then macOS' own finder.
java_version() {
  local java version best=
  for java in "${JAVA_HOME:+$JAVA_HOME/bin/java}" "$(command -v java || true)" "$(macos_java)"; do
    [[ -n "$java" && -x "$java" ]] || continue
    # The stub of macOS prints no version and exits with 1.
    version="$("$java" -version 2>&1 </dev/null | sed -nE 's/.*version "(1\.)?([0-9][^" ]*)".*/\2/p;' | head -n 1)" || true
    [[ -n "$version" ]] && at_least "$version" "${best:-0}" && best="$version"
  done
  printf '%s' "$best"
}

macos_java() {
  [[ -x /usr/libexec/java_home ]] || return 0
  local home
  home="$(/usr/libexec/java_home -v 17+ 2>/dev/null)" || return 0
  printf '%s/bin/java' "$home"
}

os_field() {
  [[ -r "${KX_OS_RELEASE:-/etc/os-release}" ]] || return 0
  sed -nE "s/^$1=\"?([^\"]*)\"?$/\1/p" "${KX_OS_RELEASE:-/etc/os-release}"
}

# --- packages of the system

has_apt() { command -v apt-get >/dev/null && command -v apt-cache >/dev/null; }

# On a terminal it asks once. Without one there is nobody to ask, and calling ./setup was the wish.
confirm() {
  [[ -n "$agreed" ]] && return 0
  if [[ -t 0 && -t 1 ]]; then
    local answer
    read -rp "setup: install with apt-get: $1? [Y/n] " answer
    [[ -z "$answer" || "$answer" == [yYjJ]* ]] || fail "Nothing was installed. kx still needs: $1. Install that yourself, or run ./setup again and agree."
  fi
  agreed=1
}

# require_root COMMAND: before its output goes to a file; sudo may ask for the password here.
require_root() {
  [[ "$(id -u)" -eq 0 ]] && return
  command -v sudo >/dev/null || fail "This needs root, and sudo is not there: as root, run \"$1\", then run ./setup again."
  if [[ -t 0 ]]; then
    sudo -v || fail "This needs root, and sudo refuses: let somebody who may run \"$1\" do so, then run ./setup again."
  else
    sudo -n true 2>/dev/null || fail "This needs root, and sudo asks for a password where there is no terminal: run \"sudo $1\" yourself, then ./setup again."
  fi
}

as_root() {
  if [[ "$(id -u)" -eq 0 ]]; then "$@"; else sudo "$@"; fi
}

apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

apt_update() {
  [[ -n "$apt_updated" ]] && return 0
  mkdir -p "$state" || fail "$state can't be made, and setup keeps its logs there. Make it writable, or set XDG_STATE_HOME to a folder that is."
  apt_get update >"$state/apt.log" 2>&1 || {
    tail -n 5 "$state/apt.log" >&2
    fail "apt-get update failed (its last lines are above). Check the package sources of this machine and that they can be reached, then run ./setup again."
  }
  apt_updated=1
}

# apt_install PACKAGE…: installs; the log of apt-get is kept.
apt_install() {
  require_root "apt-get install $*"
  apt_update
  apt_get install -y --no-install-recommends "$@" >"$state/apt.log" 2>&1 || {
    tail -n 5 "$state/apt.log" >&2
    fail "apt-get could not install $* (its last lines are above, all of them in $state/apt.log). Mend what it names, then run ./setup again."
  }
}

# packages WHY PACKAGE…: asks and installs, or says that it would.
packages() {
  local why="$1"
  shift
  has_apt || fail "$why is missing, and this system has no apt-get. $(elsewhere)"
  [[ -n "$dry_run" ]] || confirm "$*"
  step "install with apt-get: $* ($why)" apt_install "$@"
}

# The JRE that this release of the system has, in kx's order of preference.
jre_package() {
  local version
  for version in 17 21 25; do
    if [[ -n "$(apt-cache show "openjdk-$version-jre-headless" 2>/dev/null </dev/null)" ]]; then
      printf 'openjdk-%s-jre-headless' "$version"
      return
    fi
  done
  printf 'openjdk-17-jre-headless'
}

install_java() {
  has_apt || fail "kx needs a Docker engine (20.10 or later, with Compose 2.20 or later) or Java 17 or later, and neither is here. $(elsewhere)"
  if [[ -z "$dry_run" ]]; then
    confirm 'a JRE and Maven'
    require_root "apt-get install $(jre_package) maven"
    apt_update
  fi
  packages 'Java 17 or later, and Maven for the jars of Kafka' "$(jre_package)" maven
  [[ -n "$dry_run" ]] && return
  local java
  java="$(java_version)"
  at_least "${java:-0}" 17 || fail "A JRE was installed, but the java that is found first is ${java:-none}. Set JAVA_HOME to a Java 17 or later (those installed: $(compgen -G '/usr/lib/jvm/*' | tr '\n' ' ')), or put its bin folder first in the PATH."
}

# What to install by hand where there is no apt-get.
elsewhere() {
  case "$(uname -s)" in
    Darwin) printf '%s' 'On macOS: start Docker Desktop (or colima), or run "brew install openjdk@21 maven" and follow what brew says about the PATH.' ;;
    Linux)
      if command -v dnf >/dev/null; then printf '%s' 'Run "sudo dnf install java-21-openjdk-headless maven", or install a Docker engine with Compose.'
      elif command -v apk >/dev/null; then printf '%s' 'Run "apk add openjdk21-jre-headless maven", or install a Docker engine with Compose.'
      elif command -v pacman >/dev/null; then printf '%s' 'Run "sudo pacman -S jre21-openjdk-headless maven", or install a Docker engine with Compose.'
      elif command -v zypper >/dev/null; then printf '%s' 'Run "sudo zypper install java-21-openjdk-headless maven", or install a Docker engine with Compose.'
      else printf '%s' 'Install a JRE (17 or later) and Maven with the package manager of this system, or a Docker engine with Compose.'
      fi ;;
    *) printf '%s' 'Install Java 17 or later and Maven, or a Docker engine with Compose; on Windows, use WSL.' ;;
  esac
}
