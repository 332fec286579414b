# florc: exact
# florc: again outer = C1 2 ×
# florc: again callback = C1 2 ×, keras.src.backend.torch.trainer.L1 2 ×
# florc: again after = C1 2 ×
# florc: why = The epochs are followed in the library; what Keras knows by addresses is found again.
# florc: longer = epochs=3 -> epochs=12
import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.rand(500, 10).astype("float32")
y = (x.sum(1) > 5).astype("float32")


class Scaled(keras.layers.Layer):
    def call(self, values):
+        print("PROBE inner", tuple(values.shape), float(values.detach().double().sum()))
        return values * 2.0


class Seen(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.losses = []

    def on_epoch_end(self, epoch, logs=None):
        self.losses.append(logs["val_loss"])
+        print("PROBE callback", epoch, self.losses, float(np.abs(self.model.get_weights()[0]).sum()))


layers = [
    keras.layers.Input((10,)),
    keras.layers.Dense(8, activation="relu"),
    Scaled(),
    keras.layers.BatchNormalization(),
    keras.layers.Dropout(0.2),
    keras.layers.Dense(1, activation="sigmoid"),
]
model = keras.Sequential(layers)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy", "auc"])
seen = Seen()
for stage in range(2):
    history = model.fit(x, y, epochs=3, batch_size=50, verbose=0, validation_split=0.2, callbacks=[seen])
    print("loss", history.history["loss"][-1])
+    print("PROBE outer", stage, history.history["accuracy"], float(np.abs(model.get_weights()[0]).sum()))
+print("PROBE after", float(np.abs(model.get_weights()[0]).sum()), int(model.optimizer.iterations))
