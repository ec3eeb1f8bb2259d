"""Results that ONNX models declare as strings and as lists of maps."""


def texts_at(places, texts):
    """An array of objects: the texts at these places of the list."""
    import numpy

    return numpy.asarray(texts, dtype=object)[numpy.asarray(places)]


def maps_of(numbers, labels):
    """A dict from the labels to its numbers for each row."""
    rows = numbers.reshape(-1, len(labels)).tolist()
    return [dict(zip(labels, row, strict=True)) for row in rows]
