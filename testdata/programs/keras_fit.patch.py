# florc: exact
# florc: restores = any
# florc: why = A tracker of Keras keeps addresses of objects, so the call runs again.
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.rand(500, 10).astype("float32")
y = (x.sum(1) > 5).astype("float32")
layers = [keras.layers.Input((10,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1, activation="sigmoid")]
model = keras.Sequential(layers)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
history = model.fit(x, y, epochs=2, batch_size=50, verbose=0)
print("loss", history.history["loss"][-1])
+print("PROBE", float(np.abs(model.get_weights()[0]).sum()), history.history["accuracy"])
