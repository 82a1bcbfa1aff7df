"""Which regions are there in an image: what become `scipy.ndimage.label`, the morphology of masks
and distances to what is not in one?

The image counts as what is zero and what is not.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.ndimage as nd

from jitad.errors import JitadTypeError
from jitad.operators.found import answers, indices
from jitad.values.active import is_traced
from jitad.values.kind import fail
from jitad.values.registry import call, replaces


def _truth(image: Any) -> Any:
    return call(np.not_equal, call(np.asarray, image), 0)


@replaces(nd.label)
def label(input: Any, structure: Any = None) -> Any:
    image = _truth(input)
    find = answers(lambda a: nd.label(a, structure), (indices(image.ndim, np.int32), 0))
    return tuple(find(image))


def _enter(original: Any, like: Callable[[int, dict[str, Any]], Any]) -> None:
    """`like`: what shows of what kind the results are, by the number of axes and the options."""
    signature, name = inspect.signature(original), original.__name__

    @replaces(original)
    def found(*args: Any, **kwargs: Any) -> Any:
        given = dict(signature.bind(*args, **kwargs).arguments)
        masks = [k for k in ("input", "mask", "structure") if given.get(k) is not None]
        images = [_truth(given.pop(k)) for k in masks]
        for option, value in given.items():
            if is_traced(value) or (option in _WRITTEN and value is not None):
                raise fail(JitadTypeError, f"{option}= of {name} is not supported on traced or "
                           "differentiated values", "Leave it out, or give a number.")  # fmt: skip
        known = {k: v.peek() if hasattr(v, "peek") else v for k, v in given.items()}
        find = answers(
            lambda *a: original(**dict(zip(masks, a, strict=True)), **known),
            like(images[0].ndim, known),
        )
        shape = images[0].shape  # of which the results are: the kernel knows no other

        def placed(out: Any) -> Any:
            extents = shape if out.ndim == len(shape) else (len(shape), *shape)
            return call(np.reshape, out, extents)

        out = find(*images)
        return tuple(map(placed, out)) if isinstance(out, (tuple, list)) else placed(out)


_WRITTEN = ("output", "distances", "indices")


def _mask(axes: int, options: dict[str, Any]) -> Any:
    return indices(axes, bool)


def _distances(dtype: Any) -> Callable[[int, dict[str, Any]], Any]:
    def like(axes: int, options: dict[str, Any]) -> Any:
        places = indices(axes + 1, np.int32)
        if not options.get("return_indices", False):
            return indices(axes, dtype)
        return (indices(axes, dtype), places) if options.get("return_distances", True) else places

    return like


for _original in (nd.binary_erosion, nd.binary_dilation, nd.binary_opening, nd.binary_closing,
                  nd.binary_fill_holes, nd.binary_propagation):  # fmt: skip
    _enter(_original, _mask)
_enter(nd.distance_transform_edt, _distances(float))
_enter(nd.distance_transform_cdt, _distances(np.int32))
