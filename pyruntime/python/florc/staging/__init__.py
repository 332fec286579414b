"""The memory of devices on its way to the recorder, without a wait of the training.

`Staging.submit` takes a checkpoint at this instant. What lies in host memory goes to the recorder at once. What lies on a
device is copied on the device first; if there is no room for this copy, the device does its further work only after the copy to
host memory. The bytes arrive while the training goes on. Later calls of the session see that they have arrived, and hand them
to the recorder.
"""

from .devices import in_use
from .staging import Staging

__all__ = ["Staging", "in_use"]
