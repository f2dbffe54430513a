"""`plan.toml`, read into frozen values; whatever it says is checked.

Unknown names are an error: a setting that is silently not obeyed is worse than none.
"""

from backtrail.config.configuration import Configuration, read_configuration
from backtrail.config.place import Place, place_of

__all__ = ["Configuration", "Place", "place_of", "read_configuration"]
