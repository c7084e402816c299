"""Fixtures as HDF5: the same bytes whenever the same tree is written."""

import h5py
import numpy

from support.record import Array, Group


def attribute(value):
    """Texts of a fixed length and plain numbers, which readers of every age know. Nothing among
    numbers is -1."""
    if value is None:
        return numpy.int64(-1)
    if isinstance(value, bool):
        return numpy.int64(value)
    if isinstance(value, str):
        return numpy.bytes_(value.encode() or b"\0")
    if isinstance(value, (list, tuple)):
        return numpy.array([attribute(part) for part in value])
    return numpy.float64(value) if isinstance(value, float) else numpy.int64(value)


def put_attributes(owner, attributes):
    for name, value in attributes.items():
        owner.attrs.create(name, attribute(value))


def numbers(values):
    """In f32 where that loses nothing, which is so for all that is drawn."""
    array = values.detach().numpy()
    if array.dtype != numpy.float64:
        return array
    single = array.astype(numpy.float32)
    return single if numpy.array_equal(single, array, equal_nan=True) else array


def put(group, members):
    for name, member in members.items():
        if isinstance(member, Array):
            owner = group.create_dataset(name, data=numbers(member.values))
        else:
            owner = group.create_group(name, track_order=True)
            put(owner, member.members)
        put_attributes(owner, member.attributes)


def save(path, root: Group):
    with h5py.File(path, "w", libver=("v108", "v110"), track_order=True) as file:
        put(file, root.members)
        put_attributes(file, root.attributes)
