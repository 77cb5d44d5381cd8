# SPDX-License-Identifier: MIT
"""A mount namespace of its own for a command, whose mounts nobody else sees and which are gone with it."""

# In a chroot / is no mount point, so that unshare itself cannot make all mounts private: each tree that tests mount
# something in is, and a tree that is part of another one need not be.
_PRIVATE = "for tree in / /dev /sys; do mount --make-rprivate $tree 2>/dev/null || [ $tree = / ]; done\n"


def shell_with_own_mounts(script: str) -> list[str]:
    """The command that runs `script` by sh -e there."""
    return ["unshare", "--mount", "--propagation", "unchanged", "sh", "-ec", _PRIVATE + script]
