"""The memory of devices on its way to the recorder, without the training waiting for it.

`Staging.submit` takes a checkpoint at this instant; what lies in host memory goes to the recorder at once. What lies on
a device is copied there, or the device's own work is ordered after the copy to host memory; the bytes arrive while
the training goes on, and the recorder gets them when later calls of the session find that they are there.
"""

from .devices import in_use
from .staging import Staging

__all__ = ["Staging", "in_use"]
