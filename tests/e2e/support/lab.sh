# Several hosts on one machine, for scripts to source: network namespaces, each with its own name and
# address, joined by a bridge. Needs root; nothing of the machine's own network is touched.
#
#   lab_up HOSTS [FOLDER]     makes them; every host but the first has an empty disk of its own at
#                             FOLDER. Skips the test where that is not allowed.
#   lab_mpirun OPTION...      mpirun on the first host, over all of them
#   lab_connects FILE         whether its ranks came to connect
#
# Removed when the script ends.

skip() { echo "skipped: $*"; exit 77; }

lab_remove() {
  for host in $(ip netns list | awk '{print $1}' | grep "^$lab_prefix"); do
    ip netns pids "$host" | xargs -r kill -9 2>/dev/null
    ip netns del "$host"
    rm -rf "/etc/netns/$host"
  done
  rm -rf "$lab"
}

lab_require() {
  command -v ip >/dev/null || skip "no ip command (Debian: iproute2)"
  [ "$(id -u)" = 0 ] || skip "network namespaces need root"
  ip netns add tessera_probe 2>/dev/null || skip "network namespaces are not allowed here"
  ip netns del tessera_probe
}

lab_up() {
  lab_hosts=$1
  lab_require
  lab=$(mktemp -d)
  lab_prefix=ts$((RANDOM % 9000 + 1000))n
  local subnet=10.$((RANDOM % 200 + 20)).$((RANDOM % 250)) names="127.0.0.1 localhost" host i
  trap lab_remove EXIT
  ip netns add ${lab_prefix}sw
  ip -n ${lab_prefix}sw link set lo up
  ip -n ${lab_prefix}sw link add br0 type bridge || skip "this kernel has no bridges"
  ip -n ${lab_prefix}sw link set br0 up
  for ((i = 0; i < lab_hosts; ++i)); do names+=$'\n'"$subnet.$((10 + i)) $lab_prefix$i"; done
  for ((i = 0; i < lab_hosts; ++i)); do
    host=$lab_prefix$i
    ip netns add $host
    ip -n $host link set lo up
    ip link add eth0 netns $host type veth peer name p$i netns ${lab_prefix}sw || skip "no veth"
    ip -n ${lab_prefix}sw link set p$i master br0 up
    ip -n $host addr add $subnet.$((10 + i))/24 dev eth0
    ip -n $host link set eth0 up
    mkdir -p /etc/netns/$host
    echo "$names" >/etc/netns/$host/hosts
    echo "$host slots=2" >>"$lab/hostfile"
  done
  lab_agent "${2:-}"
}

# What mpirun calls in place of ssh. Like ssh it does not carry the environment.
lab_agent() {
  local mount=:
  [ -z "$1" ] || mount="mount -t tmpfs none $1"
  cat >"$lab/agent" <<AGENT
#!/bin/sh
host=\$1; shift
exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME="\${HOME:-/root}" \\
  ip netns exec "\$host" unshare --uts --mount sh -c '$mount; hostname "\$0"; cd; exec sh -c "\$*"' \\
  "\$host" "\$@"
AGENT
  chmod +x "$lab/agent"
}

lab_mpirun() {
  OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 200 \
    ip netns exec ${lab_prefix}0 unshare --uts sh -c 'hostname "$0"; exec "$@"' ${lab_prefix}0 \
    mpirun --hostfile "$lab/hostfile" --mca plm_rsh_agent "$lab/agent" \
    --mca plm_rsh_no_tree_spawn 1 --mca oob_tcp_if_include eth0 --mca btl_tcp_if_include eth0 \
    --mca btl tcp,vader,self --mca pml ob1 --bind-to none --mca mpi_yield_when_idle 1 "$@"
}

# lab_connects FILE : false when mpirun's output there says that Open MPI's ranks did not come to
# connect over the network, which happens once in some fifty starts and is worth another try.
lab_connects() {
  ! grep -q "failed to TCP connect\|client connect fail\|unexpectedly disconnected" "$1"
}
