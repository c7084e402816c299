# install_packages NAME...: installs the Debian or Ubuntu packages that are missing. On a system
# without apt it prints what is needed and stops; TESSERA_SKIP_PACKAGES=1 goes on without looking.
install_packages() {
  [ -z "${TESSERA_SKIP_PACKAGES:-}" ] || return 0
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "This system has no apt. Needed, under Debian's names: $*" >&2
    echo "Install their like, then run again with TESSERA_SKIP_PACKAGES=1." >&2
    return 1
  fi
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "Installing: ${missing[*]}"
  local as_root=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || { echo "Needs root: apt-get install ${missing[*]}" >&2; return 1; }
    as_root=(sudo)
  fi
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300)
  "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
}
