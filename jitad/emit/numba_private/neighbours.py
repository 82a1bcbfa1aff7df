"""Which elements does a loop read from memory, although the iteration before has read them?

Where an iteration reads `x[i]` and `x[i + 1]`, LLVM reads one of them and hands it on to the next
iteration in a register.  It does so before it makes vectors, which then have to be put together of
two by permutations: a stencil takes half as long again as with every vector read where it lies.
So the distance between such elements is a number that LLVM can't see.  Only where the loop doesn't
write the array: what an iteration hands on by way of memory has to stay in a register.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir


class _Read(NamedTuple):
    """An element of which LLVM computes the place by `sum`, from the counter and a constant."""

    address: Any
    sum: Any
    distance: int


class Neighbours:
    """Looks at loops of a function being written, inner ones first."""

    def __init__(self, builder: Any) -> None:
        self._b = builder
        self._heads: set[Any] = set()

    def close(self, counter: Any) -> None:
        """A loop ends that has this counter; it looks at those that have none in them."""
        own = []
        inner = True
        for block in reversed(self._b.function.blocks):
            own.append(block)
            if block is counter.parent:
                break
            if block in self._heads:
                inner = False
                break
        self._heads.add(counter.parent)
        if not inner:
            return
        reads: dict[Any, list[_Read]] = {}
        written = set()
        for block in own:
            for x in block.instructions:
                if x.opname == "store":
                    written.add(_array(x.operands[1]))
                elif x.opname == "load" and isinstance(x.type, (ir.DoubleType, ir.FloatType)):
                    read = _read(x.operands[0], counter)
                    if read is not None:
                        reads.setdefault(_array(read.address), []).append(read)
        hidden: dict[int, Any] = {}
        for array, found in reads.items():
            distances = {r.distance for r in found}
            if array is None or array in written or len(distances) < 2:
                continue
            for r in found:
                if r.distance:
                    self._hide(r, counter, hidden)

    def _hide(self, read: _Read, counter: Any, hidden: dict[int, Any]) -> None:
        b, word = self._b, counter.type
        if read.distance not in hidden:
            with b.goto_block(counter.incomings[0][1]):
                kind = ir.FunctionType(word, [word])
                hidden[read.distance] = b.asm(kind, "", "=r,0", [word(read.distance)], False)
        with b.goto_block(read.address.parent):
            b.position_before(read.address)
            at = b.add(counter, hidden[read.distance], flags=["nsw"])
            place = read.address.indices[-1]
            if place is read.sum:
                place = at
            else:  # behind rows of an array of several axes
                place = b.add(place.operands[0], at, flags=["nsw"])
        read.address.indices = [*read.address.indices[:-1], place]
        read.address.operands = [read.address.pointer, *read.address.indices]


def _array(address: Any) -> Any:
    """The array that an address lies in: where it was bound to a name, or the value itself."""
    if not isinstance(address, ir.GEPInstr) or not isinstance(address.pointer, ir.ExtractValue):
        return None
    of = address.pointer.aggregate
    return of.operands[0] if getattr(of, "opname", "") == "load" else of


def _read(address: Any, counter: Any) -> _Read | None:
    """The element at this address, if it lies at a constant distance of the counter's."""
    if not isinstance(address, ir.GEPInstr) or _array(address) is None:
        return None
    place = address.indices[-1]
    found = _distance(place, counter)
    if found is None and getattr(place, "opname", "") == "add":
        place = place.operands[1]
        found = _distance(place, counter)
    return None if found is None else _Read(address, place, found)


def _distance(place: Any, counter: Any) -> int | None:
    if place is counter:
        return 0
    if getattr(place, "opname", "") in ("add", "sub"):
        left, right = place.operands
        if left is counter and isinstance(right, ir.Constant):
            sign = 1 if place.opname == "add" else -1
            return sign * int(right.constant)
    return None
