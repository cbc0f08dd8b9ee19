"""dsv41-tui: a control panel for DeepSeek-V4.1-Flash on NVIDIA GB10 boxes."""

__version__ = "0.1.0"
