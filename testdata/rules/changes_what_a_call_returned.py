# What a call returned, and is no place that is known, lives somewhere: else to change it would do nothing.
import logging


class Settings:
    rate = 0.1


settings = Settings()


def current():
    return settings


for epoch in range(3):
    for step in range(4):
        current().rate = step
    for step in range(4):
        logging.getLogger("train").handlers[0].level = step
    for step in range(4):
        getattr(settings, "parts")[0] = step
