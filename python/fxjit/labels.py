"""Arguments and results that ONNX models declare as strings and as lists of maps."""


class TextPlaces:
    """Arrays of strings as arrays of their places in a list of texts, -1 for others."""

    def __init__(self, name, texts):
        self._name = name
        self._places = {text: place for place, text in enumerate(texts)}

    def __call__(self, given):
        import numpy

        array = numpy.asarray(given)
        items = array.ravel().tolist() if array.dtype.kind in "OUT" else [given]
        if not all(isinstance(item, str) for item in items):
            other = next(type(item).__name__ for item in items if not isinstance(item, str))
            raise TypeError(f"{self._name}: expected an array of strings, got one of "
                            f"{array.dtype} with {other}")
        places = [self._places.get(item, -1) for item in items]
        return numpy.array(places, numpy.int64).reshape(array.shape)


def texts_at(places, texts):
    """An array of objects: the texts at these places of the list."""
    import numpy

    return numpy.asarray(texts, dtype=object)[numpy.asarray(places)]


def maps_of(numbers, labels):
    """A dict from the labels to its numbers for each row."""
    rows = numbers.reshape(-1, len(labels)).tolist()
    return [dict(zip(labels, row, strict=True)) for row in rows]
