# The network of one vector: sh room.sh FOLDER COMMAND …, in its own network and mount namespace. FOLDER has `hosts`,
# `resolv.conf` and `network`, a line for each command of ip(8). Packets to the far side of `hole` are never answered.
set -e
ip link set lo up
ip link add hole type veth peer name far
# An address of the link would come some time later.
ip link set hole addrgenmode none
ip link set far addrgenmode none
ip link set hole up
ip link set far up
ip -batch "$1/network"
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/resolv.conf" /etc/resolv.conf
shift
exec "$@"
