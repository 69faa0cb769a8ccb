# SPDX-License-Identifier: MIT
"""Describes Python-PouchDB to pip, which asks for a package's metadata before it saves its source.

Its setup.py of 2014 uses an option that setuptools has removed, so that pip could not download it. Nothing of the package is run.
"""

import os
from typing import Any, List


class Backend:
    def get_requires_for_build_wheel(self, config_settings: Any = None) -> List[str]:
        return []

    def prepare_metadata_for_build_wheel(self, metadata_directory: str, config_settings: Any = None) -> str:
        # pip refuses a name or a version other than those of the file.
        name, version = "Python-PouchDB", "0.4.1"
        folder = f"{name.replace('-', '_')}-{version}.dist-info"
        os.makedirs(os.path.join(metadata_directory, folder))
        with open(os.path.join(metadata_directory, folder, "METADATA"), "w") as metadata:
            metadata.write(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        return folder

    def build_wheel(self, *arguments: Any, **options: Any) -> str:
        raise NotImplementedError("the package is downloaded, never built")


# The name that pip uses for packages without pyproject.toml.
__legacy__ = Backend()
